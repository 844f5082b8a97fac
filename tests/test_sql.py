"""`sv.sql` gives one statement that other engines can run, and says what they cannot."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

import duckdb
import polars as pl
import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlvalid as sv
from sqlvalid.compile import DIALECTS

NAMES = [
    row["name"]
    for row in sv.indices().iter_rows(named=True)
    if row["family"] not in ("comparative", "linear")
    and not row["name"].startswith("label_")
    and row["name"] not in ("pair_f", "ami", "max_matching", "mcnemar_p")
]


def statement(dialect: str, **changes: object) -> str:
    call: dict[str, object] = {"table": "t", "truth": "a", "label": "b"}
    return sv.sql(dialect=dialect, **(call | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_parses_and_is_one_statement(dialect: str) -> None:
    trees = sqlglot.parse(statement(dialect), read=dialect)
    assert len(trees) == 1
    tree = trees[0]
    assert tree is not None
    assert tree.named_selects == ["part", "n", "k", *NAMES]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_quotes_the_names(dialect: str) -> None:
    text = statement(dialect, table='s."my t"', truth='tr"uth', label="x; DROP TABLE t")
    tree = sqlglot.parse_one(text, read=dialect)
    tables = [t for t in tree.find_all(sqlglot.exp.Table) if t.alias == "src"]
    assert [(t.db, t.name) for t in tables] == [("s", "my t")]
    columns = {c.name for c in tree.find_all(sqlglot.exp.Column) if c.table == "src"}
    assert columns == {'tr"uth', "x; DROP TABLE t"}


def test_other_dialects_hold_exact_integers() -> None:
    assert "INT128" in statement("duckdb", indices="ari").upper()  # sqlglot's name of HUGEINT
    for dialect in set(DIALECTS) - {"duckdb"}:
        text = statement(dialect, indices="ari").upper()
        assert "HUGEINT" not in text
        assert "INT128" not in text
    assert "LOG(" in statement("tsql", indices="nmi")  # T-SQL's LOG is the natural one
    assert "LN(" in statement("clickhouse", indices="nmi")


@pytest.mark.parametrize("name", ["ami", "accuracy", "mcnemar_p"])
def test_kernels_are_refused(name: str) -> None:
    with pytest.raises(sv.SqlvalidError, match=r"a numpy kernel computes it.*ask here for 'ari'"):
        statement("duckdb", indices=["ari", name])


def test_bad_calls() -> None:
    with pytest.raises(sv.SqlvalidError, match="'snowflake'"):
        statement("oracle")
    with pytest.raises(sv.SqlvalidError, match="table=''"):
        statement("duckdb", table="")


def agree(found: Sequence[Any], expected: Sequence[Any]) -> None:
    """Equal but for the order of summation, and null where it is null."""
    for value, wanted in zip(found, expected, strict=True):
        if wanted is None:
            assert value is None
        else:
            assert value == pytest.approx(wanted, rel=1e-12, abs=1e-14)


def on_duckdb(frame: pl.DataFrame, text: str) -> list[object]:
    con = duckdb.connect()
    con.register("t", frame)
    rows = con.sql(text).fetchall()
    con.close()
    return list(rows[0])


def on_sqlite(frame: pl.DataFrame, text: str) -> list[object]:
    con = sqlite3.connect(":memory:")
    con.execute("CREATE TABLE t (a, b, w)")
    con.executemany("INSERT INTO t VALUES (?, ?, ?)", frame.select("a", "b", "w").rows())
    rows = con.execute(text).fetchall()
    con.close()
    return list(rows[0])


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=60
    )
)
def test_duckdb_and_sqlite_agree_with_score(rows: list[tuple[int, int, int]]) -> None:
    frame = pl.DataFrame(rows, schema=["a", "b", "w"], orient="row")
    expected = sv.score(frame, "b", truth="a", indices=NAMES).drop("undefined").row(0)[1:]
    for run, dialect in ((on_duckdb, "duckdb"), (on_sqlite, "sqlite")):
        found = run(frame, statement(dialect))[1:]
        agree(found, expected)
    if any(w for _, _, w in rows):
        expected = sv.score(frame, "b", truth="a", indices="ari", weight="w").row(0)[1:4]
        for run, dialect in ((on_duckdb, "duckdb"), (on_sqlite, "sqlite")):
            found = run(frame, statement(dialect, indices="ari", weight="w"))[1:]
            agree(found, expected)


def test_text_and_integers_together() -> None:
    frame = pl.DataFrame({"a": ["x", "x", "y"], "b": [0, 0, 1], "w": [1, 1, 1]})
    for run, dialect in ((on_duckdb, "duckdb"), (on_sqlite, "sqlite")):
        assert run(frame, statement(dialect))[1:3] == [3, 2]


@pytest.mark.parametrize("name", ["contingency", "cells", "sample", "statistics", "src"])
def test_a_table_may_be_named_like_a_part_of_the_statement(name: str) -> None:
    con = sqlite3.connect(":memory:")
    con.execute(f'CREATE TABLE "{name}" (a, b)')
    con.execute(f'INSERT INTO "{name}" VALUES (1, 1), (1, 1), (2, 2)')
    text = statement("sqlite", table=name, indices="nmi")
    assert con.execute(text).fetchall() == [("b", 3, 2, 1.0)]
    con.close()


def test_null_rows_are_left_out() -> None:
    frame = pl.DataFrame({"a": [1, 1, 2, None], "b": [1, None, 2, 2], "w": [1, 1, 1, 1]})
    for run, dialect in ((on_duckdb, "duckdb"), (on_sqlite, "sqlite")):
        assert run(frame, statement(dialect, indices="rand")) == ["b", 2, 2, 1.0]


def test_log_base() -> None:
    frame = pl.DataFrame({"a": [1, 1, 2, 2], "b": [1, 2, 1, 2], "w": [1, 1, 1, 1]})
    assert on_sqlite(frame, statement("sqlite", indices="h_truth", log_base=2))[3] == 1.0
