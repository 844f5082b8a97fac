"""Speed and memory of the internal indices, each as a ratio taken in one run.

    pip install '.[bench]' && python benchmarks/internal.py

Every bar is printed with what was measured; a missed bar ends the program with an error.
Times are the median of five. Memory is the peak of a process of its own that does nothing else;
what DuckDB keeps of a database file counts in it, so its memory is limited there.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
from bars import Row, peak_mib, report, timed
from sklearn.metrics import calinski_harabasz_score, davies_bouldin_score

import sqlvalid as sv

ROWS, P, K, LABELS = 10_000_000, 16, 20, 20
X = [f"x{j}" for j in range(P)]
FLOWERS = ["sepal_length", "sepal_width", "petal_length", "petal_width"]


def write_points(folder: Path) -> None:
    """Twenty clusters in sixteen dimensions, a tenth of the points between them; twenty labellings.

    The first labelling is the one the points were made from; each of the others moves one
    point of ten to another cluster.
    """
    with duckdb.connect(str(folder / "points.duckdb")) as con:
        con.execute("SELECT setseed(0.5)")
        centre = ", ".join(
            f"sin(label * {j + 1.3}) * 6 + spread * (random() + random() + random() - 1.5) AS {x}"
            for j, x in enumerate(X)
        )
        moved = ", ".join(
            f"CASE WHEN random() < 0.1 THEN (random() * {K})::INTEGER % {K} ELSE label END AS l{m}"
            for m in range(LABELS)
        )
        con.execute(
            f"""CREATE TABLE points AS
            SELECT label, {moved}, {centre}
            FROM (SELECT (random() * {K})::INTEGER % {K} AS label,
                  CASE WHEN random() < 0.1 THEN 6 ELSE 2 END AS spread FROM range({ROWS}))"""
        )
        con.execute(f"COPY points TO '{folder / 'points.parquet'}' (FORMAT parquet)")


def from_a_file(folder: Path) -> list[Row]:
    con = duckdb.connect(str(folder / "points.duckdb"), read_only=True)
    averages = ", ".join(f"avg({x})" for x in X)
    text = f"SELECT label, {averages} FROM points GROUP BY label"
    bare = timed(lambda: con.execute(text).fetchall())
    ours = {
        name: timed(
            lambda name=name: sv.score("points", "label", features=X, indices=name, con=con)
        )
        for name in ("calinski_harabasz", "davies_bouldin", "linear")
    }
    found = sv.score("points", "label", features=X, indices=["ch", "db"], con=con).row(0)[3:5]
    arrays = con.execute(f"SELECT {', '.join(X)} FROM points").fetchnumpy()
    x = np.stack([arrays.pop(name) for name in X], axis=1)
    labels = con.execute("SELECT label FROM points").fetchnumpy()["label"]
    con.close()
    rows: list[Row] = []
    size = f"{ROWS // 10**6}M × {P}, k={K}"
    for name, peer, bar, value in (
        ("calinski_harabasz", calinski_harabasz_score, 4, found[0]),
        ("davies_bouldin", davies_bouldin_score, 2.5, found[1]),
    ):
        assert np.isclose(peer(x, labels), value, rtol=1e-9)
        theirs = timed(lambda peer=peer: peer(x, labels))
        said = f"{ours[name]:.2f} s, {theirs / ours[name]:.1f} × faster than scikit-learn"
        held = theirs >= bar * ours[name]
        rows.append((f"{name}, {size}", f"{said} ({theirs:.2f} s)", f"≥ {bar} ×", held))
    said = f"{ours['linear']:.2f} s = {ours['linear'] / bare:.1f} × bare GROUP BY ({bare:.2f} s)"
    held = ours["linear"] <= 20 * bare
    rows.append((f"all linear indices, {size}", said, "≤ 20 ×", held))
    return rows


def memory(folder: Path) -> list[Row]:
    rows: list[Row] = []
    limited = (
        "import duckdb, sqlvalid as sv; con = duckdb.connect("
        f"{str(folder / 'points.duckdb')!r}, read_only=True, config={{'memory_limit': '512MB'}});"
        f"sv.score('points', 'label', features={X}, con=con)"
    )
    file = f"import sqlvalid as sv; sv.score({str(folder / 'points.parquet')!r}, "
    for what, body in (
        ("all linear indices from the database", limited),
        ("all linear indices from parquet", f"{file}'label', features={X})"),
        ("the same, 20 label columns", f"{file}'l[0-9]*', features={X})"),
    ):
        peak = peak_mib(body)
        rows.append((what, f"peak {peak} MiB", "< 1024 MiB", peak < 1024))
    return rows


def many_labels(folder: Path) -> list[Row]:
    file = folder / "points.parquet"
    several = [f"l{m}" for m in range(LABELS)]
    rows: list[Row] = []
    for names in (["calinski_harabasz"], ["calinski_harabasz", "davies_bouldin"], "linear"):
        one = timed(lambda names=names: sv.score(file, "l0", features=X, indices=names))
        all_ = timed(lambda names=names: sv.score(file, several, features=X, indices=names), 3)
        what = names if isinstance(names, str) else " and ".join(names)
        said = f"{all_:.2f} s = {all_ / one:.1f} × one ({one:.2f} s)"
        rows.append((f"{LABELS} label columns, {what}", said, "≤ 18 ×", all_ <= 18 * one))
    return rows


def many_runs(runs: int, points: int, p: int) -> list[Row]:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 10, points)
    x = rng.normal(size=(10, p))[truth] * 4 + rng.normal(size=(points, p))
    labels = np.where(rng.random((runs, points)) < 0.7, truth, rng.integers(0, 10, (runs, points)))
    long = pl.DataFrame(
        {
            "run": np.repeat(np.arange(runs), points),
            "point": np.tile(np.arange(points), runs),
            "label": labels.ravel(),
        }
    )
    names = [f"x{j}" for j in range(p)]
    held = pl.DataFrame(x, schema=names).with_columns(point=np.arange(points))
    call = {"points": held, "features": names, "indices": ["ch", "db"]}
    ours = timed(lambda: sv.score_runs(long, **call))
    both = (calinski_harabasz_score, davies_bouldin_score)
    theirs = timed(lambda: [peer(x, row) for row in labels for peer in both])
    said = f"{ours:.2f} s, {theirs / ours:.1f} × faster than a loop over scikit-learn"
    work = f"{runs} runs × {points // 1000}k points × {p} features, two indices"
    return [(work, f"{said} ({theirs:.2f} s)", "≥ 3 ×", theirs >= 3 * ours)]


def small() -> list[Row]:
    frame = sv.iris()
    ours = timed(lambda: sv.score(frame, "km3", features=FLOWERS), repeats=25)
    return [("score on iris, all linear, warm", f"{ours * 1e3:.1f} ms", "≤ 40 ms", ours <= 0.04)]


def main() -> None:
    rows = small() + many_runs(1000, 10_000, 8)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_points(folder)
        rows += from_a_file(folder) + many_labels(folder) + memory(folder)
    report(rows)


if __name__ == "__main__":
    main()
