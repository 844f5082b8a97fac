"""Speed and memory of the external indices, each as a ratio taken in one run.

    pip install '.[bench]' && python benchmarks/external.py [--quick]

Every bar is printed with what was measured; a missed bar ends the program with an error.
Times are the median of five. Memory is the peak of a process of its own that does nothing else.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import duckdb
import numpy as np
import polars as pl
from bars import Row, peak_mib, report, timed
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

import sqlvalid as sv

K = 100
PAIRS_AND_ENTROPIES = [
    row["name"]
    for row in sv.indices().iter_rows(named=True)
    if row["family"] in ("pairs", "entropy") and row["name"] not in ("pair_f", "ami")
]


def write_assignments(file: Path, rows: int) -> None:
    """Two integer columns with 100 values each that agree on seven rows of ten."""
    con = duckdb.connect()
    con.execute("SELECT setseed(0.5)")
    con.execute(
        f"""COPY (
          SELECT a, CASE WHEN r < 0.7 THEN a ELSE b END AS b
          FROM (SELECT (random() * {K})::BIGINT % {K} AS a, (random() * {K})::BIGINT % {K} AS b,
                random() AS r FROM range({rows}))
        ) TO '{file}' (FORMAT parquet)"""
    )
    con.close()


def scan_rows(folder: Path, rows: int, slack: float, faster: float) -> list[Row]:
    """All pair and entropy indices from parquet, against the bare grouping and scikit-learn."""
    file = folder / f"assignments-{rows}.parquet"
    write_assignments(file, rows)
    con = duckdb.connect()
    text = f"SELECT a, b, count(*) FROM read_parquet('{file}') GROUP BY ALL"
    bare = timed(lambda: con.execute(text).fetchall())
    ours = timed(lambda: sv.score(file, "b", truth="a", indices=PAIRS_AND_ENTROPIES))
    call = f"{str(file)!r}, 'b', truth='a', indices={PAIRS_AND_ENTROPIES}"
    memory = peak_mib(f"import sqlvalid as sv; sv.score({call})")
    arrays = con.execute(f"SELECT a, b FROM read_parquet('{file}')").fetchnumpy()
    con.close()
    peer = timed(lambda: adjusted_rand_score(arrays["a"], arrays["b"]))
    label = f"{len(PAIRS_AND_ENTROPIES)} pair and entropy indices, {rows // 10**6}M rows"
    limit = 1.4 * bare + slack
    return [
        (
            label,
            f"{ours * 1e3:.0f} ms = {ours / bare:.2f} × bare GROUP BY ({bare * 1e3:.0f} ms)",
            f"≤ 1.4 ×{f' + {slack * 1e3:.0f} ms' if slack else ''}",
            ours <= limit,
        ),
        (label, f"peak {memory} MiB", "< 500 MiB", memory < 500),
        (
            label,
            f"{peer / ours:.0f} × faster than adjusted_rand_score alone ({peer:.2f} s)",
            f"≥ {faster:g} ×",
            peer >= faster * ours,
        ),
    ]


def ami(folder: Path, rows: int) -> list[Row]:
    file = folder / f"assignments-{rows}.parquet"
    ours = timed(lambda: sv.score(file, "b", truth="a", indices="ami"))
    con = duckdb.connect()
    arrays = con.execute(f"SELECT a, b FROM read_parquet('{file}')").fetchnumpy()
    con.close()
    peer = timed(lambda: adjusted_mutual_info_score(arrays["a"], arrays["b"]))
    said = f"{ours * 1e3:.0f} ms, {peer / ours:.0f} × faster than scikit-learn ({peer:.2f} s)"
    return [(f"ami, {rows // 10**6}M rows, k={K}", said, "≥ 50 ×", peer >= 50 * ours)]


def many_runs(runs: int, points: int) -> list[Row]:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 10, points)
    labels = np.where(rng.random((runs, points)) < 0.7, truth, rng.integers(0, 10, (runs, points)))
    long = pl.DataFrame(
        {
            "run": np.repeat(np.arange(runs), points),
            "point": np.tile(np.arange(points), runs),
            "label": labels.ravel(),
        }
    )
    held = pl.DataFrame({"point": np.arange(points), "truth": truth})
    ours = timed(
        lambda: sv.score_runs(long, points=held, truth="truth", indices=PAIRS_AND_ENTROPIES)
    )
    peer = timed(lambda: [adjusted_rand_score(truth, row) for row in labels])
    said = f"{ours:.2f} s, {peer / ours:.1f} × faster than a loop of adjusted_rand_score"
    work = f"{runs} runs × {points // 1000}k points, one call"
    return [(work, f"{said} ({peer:.2f} s)", "≥ 4 ×", peer >= 4 * ours)]


def small() -> list[Row]:
    frame = sv.iris()
    ours = timed(lambda: sv.score(frame, "km3", truth="species"), repeats=25)
    return [
        ("score on 150 rows, all indices, warm", f"{ours * 1e3:.1f} ms", "≤ 30 ms", ours <= 0.03)
    ]


def importing() -> list[Row]:
    code = "import time; s = time.perf_counter(); import sqlvalid; print(time.perf_counter() - s)"

    def one() -> float:
        run = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        return float(run.stdout)

    one()
    seconds = median(one() for _ in range(5))
    return [("import sqlvalid", f"{seconds:.2f} s", "≤ 0.6 s", seconds <= 0.6)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="leave out the 100M rows")
    quick = parser.parse_args().quick
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows += small() + importing() + many_runs(1000, 10_000)
        rows += scan_rows(folder, 10_000_000, slack=0.025, faster=15) + ami(folder, 10_000_000)
        if not quick:
            rows += scan_rows(folder, 100_000_000, slack=0.0, faster=20)
    report(rows)


if __name__ == "__main__":
    main()
