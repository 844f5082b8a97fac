"""`explain` shows the plan that `score` follows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from sqlglot import exp

import sqlvalid as sv
from sqlvalid.engines.duckdb import DuckDB
from sqlvalid.measure import batches

IRIS = sv.iris()


def test_all_label_columns_share_one_scan() -> None:
    plan = sv.explain(IRIS, "km*", truth="species")
    assert plan.scans == 1
    assert plan.rows == 150
    assert plan.seconds is not None
    assert plan.statements[0].count("FROM") == 1


def test_label_columns_of_two_types_take_two_scans() -> None:
    data = IRIS.with_columns(text=pl.col("km3").cast(pl.String))
    assert sv.explain(data, ["km3", "text"], truth="species").scans == 2


def test_only_what_is_needed_is_planned() -> None:
    plan = sv.explain(IRIS, "km3", truth="species", indices="jaccard")
    names = plan.statistics["statistic"].to_list()
    assert "entropies" not in names
    assert "matching" not in names
    readers = dict(plan.statistics.select("statistic", "read_by").iter_rows())
    assert readers["pair_counts"] == ["jaccard"]
    assert readers["clusters"] == ["the result (k)"]


def test_the_text_has_the_statements_and_the_cost() -> None:
    text = str(sv.explain(IRIS, "km3", truth="species", indices=["ari", "ami"], weight="km2"))
    assert text.startswith("1 scan of 150 rows; estimated cost about")
    for part in ("GROUP BY", "pair_counts", "chance", "kernel", "-- statement 3", "COUNT(*)"):
        assert part in text


def test_rows_of_tables_and_files_come_from_metadata(tmp_path: Path) -> None:
    IRIS.write_parquet(tmp_path / "iris.parquet")
    assert sv.explain(tmp_path / "iris.parquet", "km3", truth="species").rows == 150
    con = duckdb.connect()
    con.register("frame", IRIS)
    con.execute("CREATE TABLE iris AS FROM frame")
    assert sv.explain("iris", "km3", truth="species", con=con).rows == 150
    con.close()
    assert sv.explain(IRIS.lazy(), "km3", truth="species").rows is None


def test_the_statements_run() -> None:
    """The texts are not for show: the first gives the cells that the second reads."""
    con = duckdb.connect()
    con.register("iris", IRIS)
    plan = sv.explain("iris", "km3", truth="species", indices="jaccard", con=con)
    cells, statistics, formulas = plan.statements
    con.register("fetched", con.sql(cells).to_arrow_table())
    con.register("statistics", con.sql(statistics).to_arrow_table())
    expected = sv.score(IRIS, "km3", truth="species", indices="jaccard")["jaccard"].item()
    assert con.sql(formulas).fetchall() == [(0, 150, 3, expected)]
    con.close()


FLOWERS = ["sepal_length", "sepal_width", "petal_length", "petal_width"]


def scans_run(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements that go to the data and read all of it, as they are run."""
    ran: list[str] = []
    for name in ("fetch", "stream"):
        real = getattr(DuckDB, name)

        def watched(self: DuckDB, query: exp.Expr, *rest: int, real: Any = real) -> Any:
            if query.args.get("limit") is None:
                ran.append(query.sql("duckdb"))
            return real(self, query, *rest)

        monkeypatch.setattr(DuckDB, name, watched)
    return ran


@pytest.mark.parametrize("indices", ["calinski_harabasz", ["ch", "db"], "linear"], ids=str)
@pytest.mark.parametrize("labels", [["km3"], ["km2", "km3", "km4"]], ids=len)
def test_scans_are_foreseen(
    labels: list[str], indices: Any, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = sv.explain(IRIS, labels, features=FLOWERS, indices=indices)
    ran = scans_run(monkeypatch)
    sv.score(IRIS, labels, features=FLOWERS, indices=indices)
    assert len(ran) == plan.scans == len(plan.steps), ran
    assert str(plan).startswith(f"{plan.scans} scans of 150 rows")


def test_features_are_decoded_once_for_all_label_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    labels = [f"l{i}" for i in range(20)]
    data = IRIS.with_columns(pl.col("km3").alias(name) for name in labels)
    monkeypatch.setattr(batches, "IN_MEMORY", -1)
    ran = scans_run(monkeypatch)
    sv.score(data, labels, features=FLOWERS, indices="calinski_harabasz")
    assert sum("petal_width" in text for text in ran) == 1


def test_a_stream_is_explained_without_being_read() -> None:
    reader = IRIS.to_arrow().to_reader()
    plan = sv.explain(reader, "km3", features=FLOWERS)
    assert plan.rows is None
    assert sv.score(reader, "km3", features=FLOWERS)["n"].item() == 150


@pytest.mark.parametrize("form", ["list", "array", "columns"])
@pytest.mark.parametrize("nulls", ["raise", "drop"])
def test_every_scan_counts(form: str, nulls: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = pl.concat_list(FLOWERS)
    data = IRIS.with_columns(e=packed.list.to_array(4) if form == "array" else packed)
    features = FLOWERS if form == "columns" else "e"
    plan = sv.explain(data, "km3", features=features, nulls=nulls)
    ran = scans_run(monkeypatch)
    sv.score(data, "km3", features=features, nulls=nulls)
    assert len(ran) == plan.scans, ran


def test_a_plan_takes_what_score_takes() -> None:
    data = IRIS.with_columns(w=pl.int_range(150) % 2).with_columns(
        e=pl.when(pl.col("w") == 1)
        .then(pl.concat_list("petal_length", "petal_width"))
        .otherwise([])
    )
    call: dict[str, Any] = {"features": "e", "weight": "w", "indices": "ch"}
    assert sv.score(data, "km3", **call)["n"].item() == 75
    assert '"w" > 0' in str(sv.explain(data, "km3", **call))
