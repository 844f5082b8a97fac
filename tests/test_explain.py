"""`explain` shows the plan that `score` follows."""

from __future__ import annotations

from pathlib import Path

import duckdb
import polars as pl

import sqlvalid as sv

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
