"""`score_runs`: every run whole, any number of them, in any place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import sqlvalid as sv

IRIS = sv.iris().with_row_index("id")
LABELS = ["km2", "km3", "km4", "dbscan"]
POINTS = IRIS.select("id", "species")
RUNS = IRIS.unpivot(on=LABELS, index="id", variable_name="run", value_name="label").sample(
    fraction=1.0, shuffle=True, seed=1
)
CALL: dict[str, Any] = {"points": POINTS, "point": "id", "truth": "species"}
EXPECTED = sv.score(IRIS, sorted(LABELS), truth="species")


def same(found: pl.DataFrame, expected: pl.DataFrame = EXPECTED) -> None:
    """Equal but for the order of summation, which several threads do not fix."""
    assert_frame_equal(found, expected, rel_tol=1e-12, abs_tol=1e-14)


def test_runs_are_partitions() -> None:
    same(sv.score_runs(RUNS, **CALL))


@pytest.mark.parametrize(
    "points", [POINTS.lazy(), POINTS.to_arrow().to_reader(), POINTS.to_pandas()]
)
def test_points_and_runs_of_any_kind(points: Any) -> None:
    same(sv.score_runs(RUNS.to_arrow().to_reader(), **(CALL | {"points": points})))


def test_files_tables_and_relations(tmp_path: Path) -> None:
    RUNS.write_parquet(tmp_path / "runs.parquet")
    POINTS.write_csv(tmp_path / "points.csv")
    con = duckdb.connect()
    con.register("runs_frame", RUNS)
    con.register("points_frame", POINTS)
    con.execute("CREATE TABLE runs AS FROM runs_frame; CREATE TABLE points AS FROM points_frame")
    before = con.sql("SELECT view_name FROM duckdb_views() ORDER BY ALL").fetchall()
    all_runs = [tmp_path / "runs.parquet", "runs", RUNS, con.table("runs"), RUNS.lazy()]
    all_points = [str(tmp_path / "points.csv"), "points", POINTS, con.table("points")]
    for runs in all_runs:
        for points in all_points:
            same(sv.score_runs(runs, con=con, **(CALL | {"points": points})))
    assert con.sql("SELECT view_name FROM duckdb_views() ORDER BY ALL").fetchall() == before
    con.close()


@pytest.mark.parametrize("dtype", [pl.Int16, pl.UInt64, pl.String, pl.Date])
def test_the_run_keeps_its_type(dtype: Any) -> None:
    numbers = RUNS.with_columns(run=pl.col("run").rank("dense").cast(pl.Int16).cast(dtype))
    found = sv.score_runs(numbers, **CALL)
    assert found.schema["partition"] == dtype
    same(found.drop("partition"), EXPECTED.drop("partition"))


def test_weights_of_points() -> None:
    weighted = IRIS.with_columns(w=pl.col("id") % 3)
    found = sv.score_runs(RUNS, **(CALL | {"points": weighted, "weight": "w"}))
    same(found, sv.score(weighted, sorted(LABELS), truth="species", weight="w"))


def test_noise_and_nulls() -> None:
    policy: dict[str, Any] = {"noise": -1, "noise_as": "singletons"}
    same(
        sv.score_runs(RUNS, **CALL, **policy),
        sv.score(IRIS, sorted(LABELS), truth="species", **policy),
    )
    holes = RUNS.with_columns(label=pl.when(pl.col("id") > 3).then("label"))
    with pytest.raises(sv.SqlvalidError, match="'label' is NULL in 16 rows"):
        sv.score_runs(holes, **CALL)
    weighted = POINTS.with_columns(w=pl.lit(7))
    with pytest.raises(sv.SqlvalidError, match="'label' is NULL in 16 rows"):
        sv.score_runs(holes, **(CALL | {"points": weighted, "weight": "w"}))
    assert sv.score_runs(holes, **CALL, nulls="drop")["n"].to_list() == [146] * 4


def test_many_runs_are_one_statement() -> None:
    rng = np.random.default_rng(0)
    runs, size = 300, 50
    truth = rng.integers(0, 4, size)
    labels = rng.integers(0, 4, (runs, size))
    long = pl.DataFrame(
        {
            "run": np.repeat(np.arange(runs), size),
            "point": np.tile(np.arange(size), runs),
            "label": labels.ravel(),
        }
    )
    wide = pl.DataFrame({"truth": truth} | {f"r{i}": labels[i] for i in range(runs)})
    found = sv.score_runs(long, points=wide.select("truth").with_row_index("point"), truth="truth")
    expected = sv.score(wide, "r*", truth="truth")
    same(found.drop("partition"), expected.drop("partition"))


def one_less(frame: pl.DataFrame, run: str) -> pl.DataFrame:
    return frame.filter(~((pl.col("run") == run) & (pl.col("id") == 7)))


TWICE = pl.concat([RUNS, RUNS.filter((pl.col("run") == "km3") & (pl.col("id") == 7))])
SWAPPED = pl.concat(
    [one_less(RUNS, "km3"), RUNS.filter((pl.col("run") == "km3") & (pl.col("id") == 8))]
)
UNKNOWN = RUNS.with_columns(
    id=pl.when(pl.col("run") == "km4").then(pl.col("id") + 1).otherwise("id")
)

BAD: dict[str, tuple[dict[str, Any], str]] = {
    "weights too large": (
        {"points": POINTS.with_columns(w=pl.lit(2**62)), "weight": "w"},
        "points: column 'w' is more than 9.2e18 in all",
    ),
    "weights all zero": (
        {"points": POINTS.with_columns(w=pl.lit(0)), "weight": "w"},
        "points: column 'w' is 0 in every row",
    ),
    "one column in two roles": ({"label": "run"}, "'run' is given as run and as label"),
    "truth is the point": ({"truth": "id"}, "'id' is given as point and as truth"),
    "a run lacks points": (
        {"runs": one_less(RUNS, "km3")},
        "run 'km3' lacks 1 points or more: 149 rows for 150",
    ),
    "a run has a point twice": ({"runs": TWICE}, "run 'km3' has points twice: 7 \\(151 rows"),
    "a point twice and one missing": (
        {"runs": SWAPPED},
        "run 'km3' has points twice: 8 \\(150 rows",
    ),
    "the same in a stream": ({"runs": SWAPPED.lazy()}, "run 'km3' lacks points or has one twice"),
    "a point that points does not know": (
        {"runs": UNKNOWN},
        "run 'km4' has 1 rows whose 'id' is not",
    ),
    "two runs are bad": (
        {"runs": one_less(one_less(RUNS, "km3"), "km4")},
        "run 'km3' \\(and 1 more runs\\) lacks",
    ),
    "no run has any": ({"runs": RUNS.clear()}, "runs has no rows"),
    "a run is NULL": (
        {"runs": RUNS.with_columns(run=pl.when(pl.col("run") != "km3").then("run"))},
        "'run' is NULL in some rows",
    ),
    "no points": ({"points": POINTS.clear()}, "points has no rows"),
    "a point is repeated in points": (
        {"points": pl.concat([POINTS, POINTS.head(1)])},
        "points: column 'id' is a repeat in 1 row",
    ),
    "a NULL point in points": (
        {"points": POINTS.with_columns(id=pl.when(pl.col("id") > 0).then("id"))},
        "points: column 'id' is NULL in 1 row",
    ),
    "a NULL truth": (
        {"points": POINTS.with_columns(species=pl.when(pl.col("id") > 1).then("species"))},
        "points: column 'species' is NULL in 2 rows",
    ),
    "points of another type": (
        {"points": POINTS.with_columns(pl.col("id").cast(pl.String))},
        "'id' is UINTEGER in runs and VARCHAR in points",
    ),
    "points left out": ({"points": None}, "give points="),
    "truth left out": ({"truth": None}, "give truth="),
    "an unknown run column": ({"run": "rum"}, "run: no column 'rum'.*did you mean 'run'"),
    "an unknown truth column": ({"truth": "specis"}, "did you mean 'species'"),
    "a bad weight": (
        {"points": POINTS.with_columns(w=pl.lit(-1)), "weight": "w"},
        "points: column 'w' is negative in 150 rows",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_runs_are_named(case: str) -> None:
    changes, message = BAD[case]
    call = {"runs": RUNS, **CALL} | changes
    with pytest.raises(sv.SqlvalidError, match=message):
        sv.score_runs(**call)
