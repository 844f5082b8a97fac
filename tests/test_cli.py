"""The command: same words, exit codes 0 and 2, one line for a wrong call."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import duckdb
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import sqlvalid as sv
from sqlvalid import demo


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    code = "from sqlvalid.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True
    )


IRIS = demo.path()
CALL = ("--labels", "km3,dbscan", "--truth", "species")


def test_demo() -> None:
    done = run("demo")
    assert done.returncode == 0
    assert done.stderr == ""
    for word in ("iris", "max_matching", "0.8933", "virginica", "comparative_deviation", "Next"):
        assert word in done.stdout


def test_demo_path_leads_to_the_data() -> None:
    assert pl.read_csv(run("demo", "--path").stdout.strip()).equals(sv.iris())


def test_score_prints_a_table() -> None:
    done = run("score", IRIS, *CALL)
    assert done.returncode == 0
    assert done.stderr == ""
    assert "0.7302" in done.stdout
    assert "undefined: label_accuracy" in done.stdout


def test_score_by_features(tmp_path: Path) -> None:
    call = ("score", IRIS, "-l", "km2,km3", "--features", "sepal_*,petal_*")
    done = run(*call)
    assert done.returncode == 0
    assert done.stderr == ""
    assert "561.6278" in done.stdout
    assert "sd: α is sd_dis of km3, the partition with most clusters" in done.stdout
    flowers = ["sepal_*", "petal_*"]
    expected = sv.score(sv.iris(), ["km2", "km3"], features=flowers, standardize=True)
    assert json.loads(run(*call, "--standardize", "-f", "json").stdout) == expected.to_dicts()
    both = run(*call, "--truth", "species", "-i", "ari,ch", "-f", "csv").stdout
    assert both.splitlines()[0] == "partition,n,k,ari,calinski_harabasz,undefined"


def test_centroids_scatter_and_explain() -> None:
    call = (IRIS, "--labels", "km3", "--features", "sepal_*,petal_*")
    flowers = ["sepal_*", "petal_*"]
    for name, verb in (("centroids", sv.centroids), ("scatter", sv.scatter)):
        found = json.loads(run(name, *call, "-f", "json").stdout)
        assert found == verb(sv.iris(), "km3", flowers).to_dicts()
        assert run(name, *call).returncode == 0
    assert "2 scans of" in run("explain", *call).stdout


def test_runs_by_features(tmp_path: Path) -> None:
    frame = sv.iris().with_row_index("point")
    frame.write_parquet(tmp_path / "points.parquet")
    runs = frame.unpivot(["km2", "km3"], index="point", variable_name="run", value_name="label")
    runs.write_parquet(tmp_path / "runs.parquet")
    files = (tmp_path / "runs.parquet", "--points", tmp_path / "points.parquet")
    found = run("score-runs", *files, "-x", "petal_*", "-i", "ch", "-f", "json")
    expected = sv.score(sv.iris(), ["km2", "km3"], features="petal_*", indices="ch")
    assert [row["calinski_harabasz"] for row in json.loads(found.stdout)] == pytest.approx(
        expected["calinski_harabasz"].to_list()
    )


def test_score_as_json_csv_and_parquet(tmp_path: Path) -> None:
    expected = sv.score(sv.iris(), ["km3", "dbscan"], truth="species", indices=["ari", "mcnemar"])
    call = ("score", IRIS, *CALL, "--indices", "ari,mcnemar")
    assert json.loads(run(*call, "--format", "json").stdout) == expected.to_dicts()
    text = run(*call, "--format", "csv").stdout
    assert text.splitlines()[0] == "partition,n,k,ari,mcnemar,undefined"
    assert run(*call, "-o", tmp_path / "x.parquet").returncode == 0
    assert_frame_equal(pl.read_parquet(tmp_path / "x.parquet"), expected, rel_tol=1e-14)
    for name in ("x.json", "x.csv", "x.txt"):
        assert run(*call, "-o", tmp_path / name).returncode == 0
        assert (tmp_path / name).read_text(encoding="utf-8").count("km3") == 1


def test_a_table_of_a_database(tmp_path: Path) -> None:
    file = tmp_path / "w.duckdb"
    con = duckdb.connect(str(file))
    con.register("frame", sv.iris())
    con.execute('CREATE TABLE "my iris" AS FROM frame')
    con.close()
    call = ("score", file, *CALL, "-i", "ari", "-f", "json")
    assert json.loads(run(*call, "--table", "my iris").stdout)[0]["n"] == 150
    refused(run(*call), "add --table NAME; it has 'my iris'")
    refused(run(*call, "--table", "iris"), "no table or view 'iris'")
    refused(run("score", IRIS, "--table", "x", *CALL), "--table goes with a .duckdb file")
    refused(run("score", tmp_path / "none.duckdb", *CALL), "no file")
    (tmp_path / "bad.duckdb").write_text("nothing of the kind" * 1000)
    refused(run("score", tmp_path / "bad.duckdb", "--table", "t", *CALL), "cannot be opened")


def test_the_other_verbs() -> None:
    frame = sv.iris()
    found = run("compare", IRIS, *CALL, "-f", "json")
    assert (
        json.loads(found.stdout) == sv.compare(frame, ["km3", "dbscan"], truth="species").to_dicts()
    )
    found = run("match", IRIS, *CALL, "-f", "json")
    assert (
        json.loads(found.stdout) == sv.match(frame, ["km3", "dbscan"], truth="species").to_dicts()
    )
    one = ("--truth", "species", "--label", "km3", "-f", "json")
    assert (
        json.loads(run("pairs", IRIS, *one).stdout) == sv.pairs(frame, "species", "km3").to_dicts()
    )
    cells = sv.contingency(frame, "species", "km3").to_dicts()
    assert json.loads(run("contingency", IRIS, *one).stdout) == cells
    assert "1 scan" in run("explain", IRIS, *CALL).stdout
    assert "ari" in run("indices", "--family", "pairs").stdout
    text = run("sql", "--table", "t", "--truth", "a", "--label", "b", "-i", "ari").stdout
    assert text.strip() == sv.sql("ari", table="t", truth="a", label="b")


def test_brackets_are_only_brackets(tmp_path: Path) -> None:
    file = tmp_path / "m.parquet"
    pl.DataFrame({"t": ["a", "a", "b"], "[/bold]": ["[/x]", "[/x]", "[red]"]}).write_parquet(file)
    for verb in ("match", "score"):
        done = run(verb, file, "--labels", "[/bold]", "--truth", "t")
        assert done.returncode == 0, done.stderr
        assert "[/bold]" in done.stdout
    assert "[red]" in run("match", file, "--labels", "[/bold]", "--truth", "t").stdout


def test_a_narrow_terminal_cuts_nothing() -> None:
    code = (
        "import sqlvalid as sv; from rich.console import Console; from sqlvalid import show;"
        "show.put(Console(width=30), show.scored(sv.score(sv.iris(), 'km*', truth='species')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "conditional_entropy" in done.stdout
    assert "…" not in done.stdout


def test_version() -> None:
    assert run("--version").stdout.strip() == f"sqlvalid {sv.__version__}"


def test_noise_and_weights() -> None:
    call = ("score", IRIS, "-l", "dbscan", "-t", "species", "-i", "ari", "-f", "json")
    found = json.loads(run(*call, "--noise", "-1", "--noise-as", "singletons").stdout)
    expected = sv.score(
        sv.iris(), "dbscan", truth="species", indices="ari", noise=-1, noise_as="singletons"
    )
    assert found == expected.to_dicts()


def test_runs(tmp_path: Path) -> None:
    points = pl.DataFrame({"point": range(4), "truth": [0, 0, 1, 1]})
    runs = points.select(run=pl.lit("r1"), point="point", label="truth")
    points.write_parquet(tmp_path / "points.parquet")
    runs.write_parquet(tmp_path / "runs.parquet")
    call = ("score-runs", tmp_path / "runs.parquet", "--points", tmp_path / "points.parquet")
    found = run(*call, "--truth", "truth", "-i", "ari", "-f", "json")
    assert json.loads(found.stdout)[0]["ari"] == 1.0


def refused(done: subprocess.CompletedProcess[str], message: str) -> None:
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stderr.startswith("sqlvalid: ")
    assert message in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("score", "no.parquet", *CALL), "no file 'no.parquet'"),
        (("score", IRIS, "-l", "km3", "-t", "specis"), "did you mean 'species'"),
        (("score", IRIS, *CALL, "-i", "nope"), "no index 'nope'"),
        (("score", IRIS, *CALL, "--format", "xml"), "xml"),
        (("score", IRIS, *CALL, "--format", "parquet"), "add -o FILE"),
        (("score", IRIS, *CALL, "--nulls", "keep"), "keep"),
        (("score", IRIS, *CALL, "-o", "x.arrow"), "the ending 'arrow' says no format"),
        (("score", IRIS, *CALL, "-o", "no/such/folder/x.csv"), "no/such/folder"),
        (("score", IRIS, "-l", "km3"), "features="),
        (("match", IRIS, "-l", "km3"), "--truth"),
        (("score", IRIS, "-l", "km3", "-x", "species"), "'species' is VARCHAR"),
        (("score",), "file"),
        (("scor",), "scor"),
        (("indices", "--family", "x"), "no family 'x'"),
        (("sql", "--table", "t", "--truth", "a", "--label", "b", "--dialect", "x"), "'snowflake'"),
        (("sql", "--table", "t", "--truth", "a", "--label", "b", "-i", "ami"), "numpy kernel"),
    ],
)
def test_a_wrong_call_is_one_line(arguments: tuple[str, ...], message: str) -> None:
    refused(run(*arguments), message)


def test_help() -> None:
    for arguments in ((), ("--help",), ("score", "--help")):
        done = run(*arguments)
        assert done.returncode == 0
        assert "score" in done.stdout
