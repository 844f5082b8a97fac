"""Score a thousand clusterings that lie in one long table, and compare the best of them."""

from __future__ import annotations

import numpy as np
import polars as pl

import sqlvalid as sv


def main() -> None:
    rng = np.random.default_rng(0)
    size, runs = 500, 1000
    truth = rng.integers(0, 5, size)
    noise = rng.uniform(0.1, 0.9, runs)[:, None]
    labels = np.where(rng.random((runs, size)) < noise, rng.integers(0, 5, (runs, size)), truth)

    points = pl.DataFrame({"truth": truth}).with_row_index("point")
    table = pl.DataFrame(
        {
            "run": np.repeat(np.arange(runs), size),
            "point": np.tile(np.arange(size), runs),
            "label": labels.ravel(),
        }
    )
    scores = sv.score_runs(table, points=points, truth="truth", indices=["ari", "ami", "vi"])
    best = scores.top_k(3, by="ari")
    print(best)

    # The three best, side by side.
    wide = points.with_columns(
        pl.Series(f"run_{run}", labels[run]) for run in best["partition"].to_list()
    )
    print(sv.compare(wide, labels="run_*", truth="truth"))


if __name__ == "__main__":
    main()
