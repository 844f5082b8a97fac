"""Bad input gets an error that says what was wrong and what to do; odd names and sizes work."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

import sqlvalid as sv

FRAME = pl.DataFrame(
    {
        "species": ["a", "a", "b", "b"],
        "km3": [0, 0, 1, 1],
        "ward": [1, 0, 1, 0],
        "holes": [0, None, None, 1],
        "floats": [0.0, float("nan"), 1.0, 1.0],
        "nested": [[1], [1], [2], [2]],
        "w": [1, 2, 3, 4],
        "w_negative": [1, -1, 1, -2],
        "w_half": [1.0, 0.5, 1.0, 1.0],
        "w_null": [1, None, 1, 1],
        "w_zero": [0, 0, 0, 0],
        "w_huge": [2**62, 2**62, 2**62, 1],
    }
)


def score(**changes: Any) -> pl.DataFrame:
    call: dict[str, Any] = {"data": FRAME, "labels": "km3", "truth": "species"}
    return sv.score(**(call | changes))


def same(found: pl.DataFrame, expected: pl.DataFrame) -> None:
    """Equal but for the order of summation, which several threads do not fix."""
    assert_frame_equal(found, expected, rel_tol=1e-12, abs_tol=1e-14)


CASES: dict[str, tuple[dict[str, Any], str]] = {
    "unknown truth": ({"truth": "specis"}, "no column 'specis'.*did you mean 'species'"),
    "unknown label": ({"labels": "km4"}, "no column 'km4'.*'km3'"),
    "unknown label in list": ({"labels": ["km3", "zzz"]}, "no column 'zzz'.*it has 'species'"),
    "unknown weight": ({"weight": "ww"}, "weight: no column 'ww'"),
    "glob without match": ({"labels": "birch*"}, "matches 'birch\\*'"),
    "empty labels": ({"labels": []}, "labels is empty"),
    "label not text": ({"labels": [3]}, "labels holds 3"),
    "truth not text": ({"truth": 3}, "truth=3"),
    "no truth": ({"truth": None}, "give truth="),
    "truth is the label": ({"truth": "km3"}, "'km3' is given as a label column and"),
    "weight is the label": ({"weight": "km3"}, "'km3' is given as a label column and"),
    "weight is the truth": ({"weight": "species", "truth": "species"}, "as weight and in another"),
    "unknown index": ({"indices": "adjusted_rnd"}, "no index 'adjusted_rnd'; did you mean"),
    "nonsense index": ({"indices": "zzzz"}, "sqlvalid.indices\\(\\) lists all"),
    "ambiguous index": ({"indices": "bcubed"}, "ambiguous.*'bcubed_f1', 'bcubed_precision'"),
    "empty index name": ({"indices": ""}, "no index ''"),
    "no indices": ({"indices": []}, "indices is empty"),
    "index not text": ({"indices": [1]}, "indices holds 1"),
    "index without its parameter": ({"indices": "pair_f"}, "needs its alpha"),
    "index with a bad parameter": ({"indices": "pair_f(-1)"}, "alpha must be a positive number"),
    "index with no parameter": ({"indices": "rand(2)"}, "'pair_f\\(alpha\\)'"),
    "nested label": ({"labels": "nested"}, "BIGINT\\[\\]; labels must be plain"),
    "durations as labels": (
        {"data": FRAME.with_columns(km3=pl.duration(days=pl.col("km3")))},
        "INTERVAL; labels",
    ),
    "integers of 128 bits": (
        {"data": FRAME.with_columns(pl.col("km3").cast(pl.Int128))},
        "Int128.*cast it",
    ),
    "NULL labels": ({"labels": "holes"}, "'holes' is NULL in 2 rows; give nulls=\"drop\""),
    "NaN labels": ({"labels": "floats"}, "'floats' is NaN in 1 row;"),
    "NULL labels beside good ones": ({"labels": ["km3", "holes"]}, "'holes' is NULL in 2 rows"),
    "negative weight": ({"weight": "w_negative"}, "'w_negative' is negative in 2 rows"),
    "fractional weight": (
        {"weight": "w_half"},
        "'w_half' is not a whole number .* in 1 row",
    ),
    "NULL weight": ({"weight": "w_null"}, "'w_null' is NULL in 1 row"),
    "weights all zero": ({"weight": "w_zero"}, "'w_zero' is 0 in every row"),
    "weights too large": ({"weight": "w_huge"}, "sums to more than 9.2e18"),
    "weight of text": ({"weight": "species", "truth": "ward"}, "VARCHAR; it must hold whole"),
    "noise of another type": ({"noise": "x"}, "noise='x' is a text, but column 'km3' is BIGINT"),
    "noise_as alone": ({"noise_as": "exclude"}, "needs noise="),
    "unknown noise_as": ({"noise": 0, "noise_as": "drop"}, "'exclude', 'cluster', 'singletons'"),
    "noise of no type": ({"noise": [1]}, "give the label that means noise"),
    "unknown nulls": ({"nulls": "skip"}, "nulls='skip'.*'raise', 'drop'"),
    "unknown undefined": ({"undefined": "nan"}, "undefined='nan'"),
    "log_base 1": ({"log_base": 1}, "greater than 1"),
    "log_base text": ({"log_base": "e"}, "give a number"),
    "literal index on unlike types": ({"indices": "label_accuracy"}, "cast one of them"),
    "labels of no kind": ({"labels": 5}, "labels=5: give a name"),
    "labels left out": ({"labels": None}, "labels=None: give a name"),
    "indices of no kind": ({"indices": 5}, "indices=5: give a name"),
    "a parameter out of reach": ({"indices": "pair_f(1e308)"}, "up to 1e100"),
    "a series as data": ({"data": FRAME["km3"]}, "cannot be read"),
    "a lazy frame that fails": ({"data": pl.scan_csv("nowhere.csv")}, "cannot be read"),
    "a lazy frame without a column": ({"data": FRAME.lazy().select("zz")}, "cannot be read"),
    "a column without a name": (
        {"data": FRAME.rename({"km3": ""}), "labels": ""},
        "without a name",
    ),
    "a stream with a column twice": (
        {"data": pa.table([[1], [1], [1]], ["species", "km3", "km3"]).to_reader()},
        "columns twice: 'km3'",
    ),
    "a stream with names alike but for case": (
        {"data": FRAME.rename({"ward": "KM3"}).to_arrow().to_reader()},
        "differ only in case",
    ),
    "a list as data": ({"data": [1, 2]}, "data of type list cannot be read; give a Polars"),
    "a connection that is none": ({"con": "x.duckdb"}, "duckdb.connect"),
    "empty frame": ({"data": FRAME.clear()}, "no rows to score"),
    "missing file": ({"data": "no/such.parquet"}, "no file 'no/such.parquet'"),
    "missing glob": ({"data": "no/such/*.csv"}, "no file"),
    "a name without con": ({"data": "assignments"}, "give con="),
    "unknown file type": ({"data": __file__}, "files ending in '.py' cannot be read"),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_calls_say_what_is_wrong(case: str) -> None:
    changes, message = CASES[case]
    with pytest.raises(sv.SqlvalidError, match=message):
        score(**changes)


def test_errors_are_value_errors() -> None:
    assert issubclass(sv.SqlvalidError, ValueError)


@pytest.mark.parametrize("verb", [sv.compare, sv.match, sv.explain])
def test_other_verbs_check_alike(verb: Callable[..., Any]) -> None:
    with pytest.raises(sv.SqlvalidError, match="did you mean 'species'"):
        verb(FRAME, ["km3", "ward"], truth="specis")


def test_compare_needs_two() -> None:
    with pytest.raises(sv.SqlvalidError, match="two label columns"):
        sv.compare(FRAME, "km3", truth="species")


def test_nulls_can_be_dropped() -> None:
    frame = score(labels=["holes", "floats"], nulls="drop")
    assert frame["n"].to_list() == [2, 3]


def test_nothing_left_after_dropping() -> None:
    data = FRAME.with_columns(none=pl.lit(None, dtype=pl.Int64))
    with pytest.raises(sv.SqlvalidError, match="no usable rows are left for 'none'"):
        score(data=data, labels=["km3", "none"], nulls="drop")


def test_nothing_left_after_noise() -> None:
    data = FRAME.with_columns(noisy=pl.lit(-1))
    with pytest.raises(sv.SqlvalidError, match="no usable rows are left for 'noisy'"):
        score(data=data, labels=["km3", "noisy"], noise=-1)


def test_an_all_null_column_is_an_error() -> None:
    data = FRAME.with_columns(none=pl.Series([None] * 4))
    with pytest.raises(sv.SqlvalidError, match="'none' is NULL in 4 rows"):
        score(data=data, labels="none")


def test_pandas_columns_of_mixed_types_are_refused() -> None:
    data = pd.DataFrame({"t": [1, 1, 2], "l": pd.Series([1, "1", 2], dtype=object)})
    with pytest.raises(sv.SqlvalidError, match="'l' mixes types"):
        sv.score(data, "l", truth="t")


def test_pandas_columns_twice_are_refused() -> None:
    data = pd.DataFrame([[1, 2, 3]], columns=["t", "l", "l"])
    with pytest.raises(sv.SqlvalidError, match="columns twice: 'l'"):
        sv.score(data, "l", truth="t")


def test_python_objects_are_refused() -> None:
    data = pl.DataFrame({"t": [1, 2], "l": pl.Series([object(), object()], dtype=pl.Object)})
    with pytest.raises(sv.SqlvalidError, match="column 'l' is Object"):
        sv.score(data, "l", truth="t")


def test_other_columns_may_hold_anything() -> None:
    data = FRAME.with_columns(odd=pl.Series([object()] * 4, dtype=pl.Object))
    assert score(data=data)["n"].item() == 4


def test_names_that_differ_in_case_only_are_refused() -> None:
    data = pl.DataFrame({"a": [1, 2], "A": [1, 2], "t": [1, 2]})
    with pytest.raises(sv.SqlvalidError, match="differ only in case"):
        sv.score(data, ["a", "A"], truth="t")
    assert sv.score(data, "A", truth="t")["n"].item() == 2


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    for name in ("x.parquet", "x.arrow"):
        file = tmp_path / name
        file.write_text("not what its ending says")
        with pytest.raises(sv.SqlvalidError, match=f"{name}' (cannot be read|is not Arrow)"):
            sv.score(str(file), "a", truth="b")


def test_a_database_file_says_how() -> None:
    path = Path("w.duckdb")
    with pytest.raises(sv.SqlvalidError, match="no file"):
        sv.score(str(path), "a", truth="b")


def test_a_database_file_that_exists_says_how(tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    duckdb.connect(str(path)).close()
    with pytest.raises(sv.SqlvalidError, match="give the name of a table with con=con"):
        sv.score(path, "a", truth="b")


@pytest.mark.parametrize(
    "name",
    ["t; DROP TABLE t", "(SELECT 1)", "t WHERE 1=1", "read_csv('x')", "", '"', "a.b.c.d", "T x"],
)
def test_a_table_name_is_never_sql(name: str) -> None:
    con = duckdb.connect()
    con.execute("CREATE TABLE t (a INT, b INT); INSERT INTO t VALUES (1, 1)")
    with pytest.raises(sv.SqlvalidError, match="no table or view"):
        sv.score(name, "a", truth="b", con=con)
    assert con.sql("SELECT count(*) FROM t").fetchall() == [(1,)]
    con.close()


ODD = [
    'q"uote',
    "a space",
    "semi;colon",
    "ünïcode 🦆",
    "select",
    "UPPER",
    "it's",
    "a,b",
    "x.y",
    "%s {0}",
]


@pytest.mark.parametrize("name", ODD)
def test_odd_column_names_work(name: str) -> None:
    data = FRAME.rename({"species": name, "km3": f"{name}2", "w": f"{name}3"})
    expected = score(weight="w").drop("partition")
    found = sv.score(data, f"{name}2", truth=name, weight=f"{name}3")
    assert found["partition"].item() == f"{name}2"
    same(found.drop("partition"), expected)
    con = duckdb.connect()
    con.register(name, data)
    found = sv.score(name, f"{name}2", truth=name, weight=f"{name}3", con=con)
    same(found.drop("partition"), expected)
    con.close()


def test_names_that_the_statements_use_themselves_work() -> None:
    names = {"species": "part", "km3": "n", "ward": "truth", "w": "label"}
    data = FRAME.rename(names)
    found = sv.score(data, ["n", "truth"], truth="part", weight="label")
    expected = score(labels=["km3", "ward"], weight="w")
    same(found.drop("partition"), expected.drop("partition"))


def test_a_column_name_with_glob_characters_means_itself() -> None:
    data = FRAME.rename({"km3": "km*"})
    assert score(data=data, labels="km*")["partition"].to_list() == ["km*"]


def test_a_glob_leaves_out_truth_and_weight() -> None:
    data = FRAME.select("species", "km3", "ward", "w")
    found = score(data=data, labels="*", weight="w")
    assert found["partition"].to_list() == ["km3", "ward"]


def test_one_row() -> None:
    frame = score(data=FRAME.head(1))
    row = frame.row(0, named=True)
    assert row["n"] == 1
    assert row["ari"] == row["nmi"] == row["ami"] == row["purity"] == 1.0
    assert row["rand"] is None
    assert "rand: one point makes no pair" in row["undefined"]


@pytest.mark.parametrize("values", [[7, 7, 7, 7], [1, 2, 3, 4]])
def test_one_cluster_and_all_singletons(values: list[int]) -> None:
    frame = score(data=FRAME.with_columns(km3=pl.Series(values)))
    row = frame.row(0, named=True)
    for name in frame.columns[3:-1]:
        told = any(reason.startswith(f"{name}:") for reason in row["undefined"])
        assert told == (row[name] is None), name
    assert row["hubert"] is None
    assert row["ari"] == 0.0


@pytest.mark.parametrize("name", ["*", "^k.*$", "^.*$"])
def test_a_polars_column_named_like_a_pattern(name: str) -> None:
    data = FRAME.select("species", "ward", pl.col("km3").alias(name))
    for given in (data, data.lazy()):
        assert score(data=given, labels=[name])["ari"].item() == 1.0


def test_a_relation_that_is_gone_is_told() -> None:
    con = duckdb.connect()
    con.execute("CREATE TABLE t (a INT, b INT); INSERT INTO t VALUES (1, 1)")
    dropped = con.sql("SELECT * FROM t")
    con.execute("DROP TABLE t")
    with pytest.raises(sv.SqlvalidError, match="cannot be read"):
        sv.score(dropped, "a", truth="b")
    left = con.sql("SELECT 1 AS a, 1 AS b")
    con.close()
    with pytest.raises(sv.SqlvalidError, match="cannot be read"):
        sv.score(left, "a", truth="b")


def test_no_variable_is_taken_for_a_table() -> None:
    con = duckdb.connect()
    df = FRAME  # noqa: F841
    for name in ("con", "name", "df", "FRAME", "data"):
        with pytest.raises(sv.SqlvalidError, match=f"no table or view '{name}'"):
            sv.score(name, "km3", truth="species", con=con)
    con.close()


@pytest.mark.parametrize("kind", ["UHUGEINT", "VARIANT", "INTEGER[]", "STRUCT(x INTEGER)"])
def test_types_that_cannot_be_labels(kind: str) -> None:
    con = duckdb.connect()
    con.execute(f"CREATE TABLE t (a {kind}, b INTEGER)")
    with pytest.raises(sv.SqlvalidError, match="labels must be plain values"):
        sv.score("t", "a", truth="b", con=con)
    con.close()


def test_noise_as_numpy_and_as_text() -> None:
    data = pl.DataFrame({"t": [1, 1, 2, 2], "l": [1, 1, 2, -1], "s": ["1", "1", "2", "-1"]})
    call: dict[str, Any] = {"truth": "t", "indices": "ari"}
    for noise in (-1, np.int64(-1), -1.0, "-1", "-1.0"):
        assert sv.score(data, "l", noise=noise, **call)["n"].item() == 3
    assert sv.score(data, "s", noise="-1", **call)["n"].item() == 3
    assert sv.score(data, ["l", "s"], noise="-1", **call)["n"].to_list() == [3, 3]
    assert sv.compare(data, ["l", "s"], noise="-1", truth="t")["br"].to_list() == [3, 3]
    bools = data.with_columns(l=pl.col("l") > 0)
    for noise in (False, "false"):
        assert sv.score(bools, "l", noise=noise, **call)["n"].item() == 3
    assert sv.score(data, "l", noise=1, **call)["n"].item() == 2
    assert (
        sv.score(data, "l", truth="t", indices="h_truth", log_base=np.int64(2))["h_truth"].item()
        == 1
    )


def test_undefined_can_be_an_error() -> None:
    with pytest.raises(sv.SqlvalidError, match="mcnemar: the partitions do not disagree"):
        score(indices=["ari", "mcnemar"], undefined="raise")
    assert score(indices="ari", undefined="raise")["ari"].item() == 1.0
