"""One statement for the internal indices, in every dialect, run on DuckDB and SQLite."""

from __future__ import annotations

import math
import sqlite3

import duckdb
import numpy as np
import polars as pl
import pytest
import sqlglot

import sqlvalid as sv
from sqlvalid.compile import DIALECTS
from sqlvalid.statistics import KERNELS, of_points

KERNELS_ONLY = {
    "det_ratio", "log_det_ratio", "log10_det_ratio", "ksq_detw", "scott_symons", "trace_wib",
}  # fmt: skip
NAMES = [
    row["name"]
    for row in sv.indices().iter_rows(named=True)
    if row["family"] == "linear" and row["name"] not in KERNELS_ONLY
]


def statement(dialect: str = "duckdb", **changes: object) -> str:
    call: dict[str, object] = {"table": "t", "label": "km", "features": ["x", "y", "z"]}
    return sv.sql(dialect=dialect, **(call | changes))  # type: ignore[arg-type]


def cloud(seed: int, n: int = 80, k: int = 4) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    km = rng.integers(0, k, n)
    at = rng.normal(size=(k, 3)) * 4
    points = at[km] + rng.normal(size=(n, 3))
    frame = pl.DataFrame(points, schema=["x", "y", "z"], orient="row")
    return frame.with_columns(km=pl.Series(km), w=pl.Series(rng.integers(0, 4, n)))


def on_duckdb(frame: pl.DataFrame, text: str) -> dict[str, float | None]:
    with duckdb.connect() as con:
        con.register("t", frame)
        return con.sql(text).pl().to_dicts()[0]


def on_sqlite(frame: pl.DataFrame, text: str) -> dict[str, float | None]:
    con = sqlite3.connect(":memory:")
    con.execute(f"CREATE TABLE t ({', '.join(frame.columns)})")
    marks = ", ".join("?" * len(frame.columns))
    con.executemany(f"INSERT INTO t VALUES ({marks})", frame.rows())
    cursor = con.execute(text)
    names = [column[0] for column in cursor.description]
    row = dict(zip(names, cursor.fetchone(), strict=True))
    con.close()
    return row


def agree(found: dict[str, float | None], expected: dict[str, float | None]) -> None:
    for name in ("n", "k", *NAMES):
        have, want = found[name], expected[name]
        assert (have is None) == (want is None), name
        # Both are sums of a few hundred terms in another order.
        assert have is None or want is None or math.isclose(have, want, rel_tol=1e-10), name


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_parses_and_is_one_statement(dialect: str) -> None:
    trees = sqlglot.parse(statement(dialect), read=dialect)
    assert len(trees) == 1
    assert trees[0] is not None
    assert trees[0].named_selects == ["part", "n", "k", *NAMES]


@pytest.mark.parametrize("changes", [{}, {"standardize": True}, {"weight": "w"}], ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_duckdb_and_sqlite_agree_with_score(seed: int, changes: dict[str, object]) -> None:
    frame = cloud(seed)
    expected = sv.score(frame, "km", features=["x", "y", "z"], indices=NAMES, **changes)  # type: ignore[arg-type]
    for run, dialect in ((on_duckdb, "duckdb"), (on_sqlite, "sqlite")):
        agree(run(frame, statement(dialect, **changes)), expected.to_dicts()[0])


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"x": [1.0, 2, 3], "y": [0.0, 1, 0], "z": [0.0, 0, 1], "km": [1, 1, 1]}),
        pl.DataFrame({"x": [1.0, 2, 3], "y": [0.0, 1, 0], "z": [0.0, 0, 1], "km": [1, 2, 3]}),
        pl.DataFrame(
            {"x": [0.0, 2, 1, 1], "y": [1.0, 1, 0, 2], "z": [5.0] * 4, "km": [1, 1, 2, 2]}
        ),
        pl.DataFrame({"x": [0.0, 0, 9, 9], "y": [1.0] * 4, "z": [5.0] * 4, "km": [1, 1, 2, 2]}),
    ],
    ids=["one cluster", "singletons", "equal centroids", "single places"],
)
def test_undefined_is_null_there_too(frame: pl.DataFrame) -> None:
    expected = sv.score(frame, "km", features=["x", "y", "z"], indices=NAMES).to_dicts()[0]
    for run, dialect in ((on_duckdb, "duckdb"), (on_sqlite, "sqlite")):
        agree(run(frame, statement(dialect)), expected)


def test_rows_with_a_null_feature_are_left_out() -> None:
    frame = cloud(7)
    holes = frame.with_columns(y=pl.when(pl.int_range(80) % 9 > 0).then("y"))
    expected = sv.score(holes, "km", features=["x", "y", "z"], indices=NAMES, nulls="drop")
    assert expected["n"].item() == 71
    agree(on_duckdb(holes, statement()), expected.to_dicts()[0])


def test_truth_and_features_in_one_statement() -> None:
    frame = cloud(3).with_columns(truth=pl.col("km") // 2)
    found = on_duckdb(frame, statement(truth="truth", indices=["ari", "vi", "ch", "db"]))
    expected = sv.score(frame, "km", truth="truth", features=["x", "y", "z"])
    for name in ("ari", "vi", "calinski_harabasz", "davies_bouldin"):
        assert found[name] == pytest.approx(expected[name].item(), rel=1e-12)


def test_what_needs_a_factorisation_says_so() -> None:
    with pytest.raises(sv.SqlvalidError, match=r"det_ratio.*cannot be written in SQL"):
        statement(indices=["det_ratio", "trace_w"])


def test_odd_names_are_only_names() -> None:
    names = {"x": 'a"b', "y": "select", "z": "x0", "km": "points"}
    frame = cloud(5).rename(names)
    text = statement(label="points", features=['a"b', "select", "x0"], indices=["ch", "sswc"])
    expected = sv.score(frame, "points", features=['a"b', "select", "x0"], indices=["ch", "sswc"])
    found = on_duckdb(frame, text)
    assert found["calinski_harabasz"] == pytest.approx(expected["calinski_harabasz"].item())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"features": ["x", "km"]}, "'km' is given in two roles"),
        ({"features": None}, "features="),
        ({"indices": "ari"}, "give truth="),
    ],
)
def test_wrong_calls(changes: dict[str, object], message: str) -> None:
    with pytest.raises(sv.SqlvalidError, match=message):
        statement(**changes)


def test_every_statistic_of_points_has_its_sql_or_a_reason() -> None:
    kernels = {kernel.name: kernel for kernel in KERNELS if kernel.of_points}
    without = {"determinants", "cluster_determinants"}
    assert kernels.keys() - of_points().keys() == without
    for name in kernels.keys() - without:
        assert set(of_points()[name].provides) == set(kernels[name].provides), name
