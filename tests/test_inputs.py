"""Every kind of data gives the same frame, and a user's connection is left as it was found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from polars.testing import assert_frame_equal

import sqlvalid as sv

IRIS = sv.iris()
LABELS = ["km2", "km3", "dbscan"]
CALL: dict[str, Any] = {"labels": LABELS, "truth": "species"}
EXPECTED = sv.score(IRIS, **CALL)


def same(found: pl.DataFrame, expected: pl.DataFrame) -> None:
    """Equal but for the order of summation, which several threads do not fix."""
    assert_frame_equal(found, expected, rel_tol=1e-12, abs_tol=1e-14)


class Capsule:
    """Something whose only interface is a stream that can be read once."""

    def __init__(self, table: pa.Table) -> None:
        self.reader = table.to_reader(max_chunksize=40)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.reader.__arrow_c_stream__(requested_schema)


IN_MEMORY: dict[str, Callable[[], Any]] = {
    "polars": lambda: IRIS,
    "lazy": IRIS.lazy,
    "lazy scan": lambda: pl.scan_csv(Path(sv.__file__).parent / "data" / "iris.csv"),
    "lazy with categories": lambda: IRIS.lazy().with_columns(
        pl.col("species").cast(pl.Categorical)
    ),
    "arrow": IRIS.to_arrow,
    "record batch": lambda: IRIS.to_arrow().combine_chunks().to_batches()[0],
    "reader": lambda: IRIS.to_arrow().to_reader(max_chunksize=40),
    "dataset": lambda: ds.dataset(IRIS.to_arrow()),
    "pandas": IRIS.to_pandas,
    "capsule": lambda: Capsule(IRIS.to_arrow()),
    "relation": lambda: duckdb.sql(f"SELECT * FROM read_csv('{_iris_path()}')"),
}


def _iris_path() -> Path:
    return Path(sv.__file__).parent / "data" / "iris.csv"


@pytest.mark.parametrize("kind", IN_MEMORY)
def test_data_in_memory(kind: str) -> None:
    same(sv.score(IN_MEMORY[kind](), **CALL), EXPECTED)


WIDE = IRIS.with_columns(pl.col("km3").alias(f"copy{i}") for i in range(40))


@pytest.mark.parametrize("data", [WIDE, WIDE.lazy(), WIDE.to_arrow(), WIDE.to_arrow().to_reader()])
def test_more_labels_than_one_scan_takes(data: Any) -> None:
    found = sv.score(data, labels=["km3", "copy*"], truth="species")
    assert found["partition"].to_list() == ["km3", *(f"copy{i}" for i in range(40))]
    values = found.drop("partition")
    for i in range(1, 41):
        same(values[i], values[0])


def test_one_shot_streams_with_label_columns_of_two_types() -> None:
    data = IRIS.with_columns(text=pl.col("km3").cast(pl.String))
    found = sv.score(data.to_arrow().to_reader(), ["km3", "text"], truth="species")
    same(found, sv.score(data, ["km3", "text"], truth="species"))


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".tsv", ".csv.gz", ".arrow", ".feather"])
def test_files(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"iris{suffix}"
    if suffix == ".parquet":
        IRIS.write_parquet(file)
    elif suffix in (".arrow", ".feather"):
        IRIS.write_ipc(file)
    elif suffix == ".csv.gz":
        con = duckdb.connect()
        con.register("iris", IRIS)
        con.sql("SELECT * FROM iris").write_csv(str(file), compression="gzip")
        con.close()
    else:
        IRIS.write_csv(file, separator="\t" if suffix == ".tsv" else ",")
    same(sv.score(file, **CALL), EXPECTED)
    same(sv.score(str(file), **CALL), EXPECTED)


@pytest.mark.parametrize("suffix", ["parquet", "csv", "arrow"])
def test_globs(tmp_path: Path, suffix: str) -> None:
    write = {
        "parquet": pl.DataFrame.write_parquet,
        "csv": pl.DataFrame.write_csv,
        "arrow": pl.DataFrame.write_ipc,
    }[suffix]
    for i in range(3):
        write(IRIS[i * 50 : (i + 1) * 50], tmp_path / f"part-{i}.{suffix}")
    same(sv.score(f"{tmp_path}/*.{suffix}", **CALL), EXPECTED)


def test_a_file_whose_name_looks_like_a_glob(tmp_path: Path) -> None:
    IRIS.write_parquet(tmp_path / "we[i]rd.parquet")
    same(sv.score(tmp_path / "we[i]rd.parquet", **CALL), EXPECTED)


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    con = duckdb.connect()
    con.execute("ATTACH ':memory:' AS other; CREATE SCHEMA s; SET threads = 2")
    con.register("iris_frame", IRIS)
    con.execute("CREATE TABLE iris AS FROM iris_frame; CREATE VIEW seen AS FROM iris")
    con.execute('CREATE TABLE s."My Iris" AS FROM iris; CREATE TEMP TABLE passing AS FROM iris')
    con.execute("CREATE TABLE other.main.far AS FROM iris")
    yield con
    con.close()


def state(con: duckdb.DuckDBPyConnection) -> list[Any]:
    return [
        con.sql(f"SELECT * FROM {what} ORDER BY ALL").fetchall()
        for what in (
            "(SELECT database_name, schema_name, table_name FROM duckdb_tables())",
            "(SELECT database_name, schema_name, view_name FROM duckdb_views())",
            "(SELECT name, value FROM duckdb_settings())",
        )
    ]


@pytest.mark.parametrize(
    "name",
    ["iris", "seen", 's."My Iris"', "s.My Iris", "passing", "iris_frame", "other.main.far"],
)
def test_tables_and_views_of_a_connection(con: duckdb.DuckDBPyConnection, name: str) -> None:
    before = state(con)
    same(sv.score(name, **CALL, con=con), EXPECTED)
    sv.compare(name, **CALL, con=con)
    sv.match(name, **CALL, con=con)
    sv.explain(name, **CALL, con=con)
    with pytest.raises(sv.SqlvalidError):
        sv.score(name, "nope", truth="species", con=con)
    assert state(con) == before


def test_a_transaction_survives_errors(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("BEGIN; INSERT INTO iris FROM iris LIMIT 1")
    for name, label in (("nope", "km3"), ("iris", "nope"), ("t; DROP TABLE iris", "km3")):
        with pytest.raises(sv.SqlvalidError):
            sv.score(name, label, truth="species", con=con)
    found = sv.score("iris", "km3", truth="species", indices="ari", con=con)
    assert found["n"].item() == 151
    con.execute("ROLLBACK")
    assert sv.score("iris", "km3", truth="species", indices="ari", con=con)["n"].item() == 150


def test_a_relation_of_a_connection(con: duckdb.DuckDBPyConnection) -> None:
    before = state(con)
    relation = con.sql("SELECT * FROM iris WHERE species <> 'setosa'")
    expected = sv.score(IRIS.filter(pl.col("species") != "setosa"), **CALL)
    same(sv.score(relation, **CALL), expected)
    assert state(con) == before


def test_a_file_with_a_connection(con: duckdb.DuckDBPyConnection) -> None:
    same(sv.score(str(_iris_path()), **CALL, con=con), EXPECTED)


def test_a_busy_connection_is_told(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("SELECT * FROM iris")
    con.fetchone()
    with pytest.raises(sv.SqlvalidError, match="unfinished result"):
        sv.score("iris", **CALL, con=con)


def test_the_frame() -> None:
    assert EXPECTED.columns[:3] == ["partition", "n", "k"]
    assert EXPECTED.columns[-1] == "undefined"
    assert EXPECTED.schema["partition"] == pl.String
    assert EXPECTED.schema["n"] == EXPECTED.schema["k"] == pl.Int64
    assert EXPECTED.schema["undefined"] == pl.List(pl.String)
    assert set(EXPECTED.dtypes[3:-1]) == {pl.Float64}


def test_the_namespace() -> None:
    same(IRIS.sv.score(**CALL), EXPECTED)
    same(IRIS.lazy().sv.score(**CALL), EXPECTED)
    same(IRIS.sv.compare(**CALL), sv.compare(IRIS, **CALL))
    same(IRIS.sv.match(**CALL), sv.match(IRIS, **CALL))
    same(IRIS.sv.pairs("species", "km3"), sv.pairs(IRIS, "species", "km3"))
    same(IRIS.sv.contingency("species", "km3"), sv.contingency(IRIS, "species", "km3"))
    assert IRIS.sv.explain(**CALL).scans == 1
