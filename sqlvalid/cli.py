"""The command `sqlvalid`: the verbs, with the same words."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import duckdb
import polars as pl
import typer

import sqlvalid as sv
from sqlvalid import demo as shipped
from sqlvalid import partitions, show
from sqlvalid.compile import DIALECTS
from sqlvalid.engines.sources import DATABASES, first_line
from sqlvalid.errors import BadArgument, BadData, SqlvalidError, listed

app = typer.Typer(
    help="Validity indices of clusterings, where the tables are.",
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)

File = Annotated[
    str, typer.Argument(help="parquet, CSV or Arrow IPC (a glob works), or a .duckdb file")
]
TableName = Annotated[str | None, typer.Option("--table", help="table or view of a .duckdb file")]
Labels = Annotated[
    list[str],
    typer.Option("--labels", "-l", help="label columns: a,b,c or a glob; may be repeated"),
]
Truth = Annotated[str, typer.Option("--truth", "-t", help="column with the true classes")]
Indices = Annotated[
    list[str] | None,
    typer.Option("--indices", "-i", help="names, prefixes or groups: ari,nmi; all by default"),
]
Weight = Annotated[str | None, typer.Option(help="column with row counts")]
Noise = Annotated[str | None, typer.Option(help="label that means noise, as -1")]
NoiseAs = Annotated[
    partitions.NoiseAs | None,
    typer.Option("--noise-as", help="what to do with noise; exclude by default"),
]
Nulls = Annotated[partitions.Nulls, typer.Option(help="what to do about NULL labels")]
Undefined = Annotated[
    partitions.Undefined, typer.Option(help="what to do where an index is undefined")
]
LogBase = Annotated[float | None, typer.Option("--log-base", help="base of logarithms; e")]
Format = Annotated[
    show.Format | None, typer.Option("--format", "-f", help="how to write; by the file's ending")
]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="file to write")]


@app.command()
def score(
    file: File, labels: Labels, truth: Truth, table: TableName = None, indices: Indices = None,
    weight: Weight = None, noise: Noise = None, noise_as: NoiseAs = None, nulls: Nulls = "raise",
    undefined: Undefined = "null", log_base: LogBase = None, format_: Format = None,
    output: Output = None,
) -> None:  # fmt: skip
    """Score clusterings against a truth."""
    with _data(file, table) as given, _working():
        frame = sv.score(
            **given, labels=_list(labels), truth=truth, indices=_names(indices), weight=weight,
            noise=_noise(noise), noise_as=noise_as, nulls=nulls, undefined=undefined,
            log_base=log_base,
        )  # fmt: skip
    show.write(frame, format_, output, show.scored(frame))


@app.command("score-runs")
def score_runs(
    file: File, points: Annotated[str, typer.Option(help="file, or table, with the truth")],
    truth: Truth, table: TableName = None, run: str = "run", point: str = "point",
    label: str = "label", indices: Indices = None, weight: Weight = None, noise: Noise = None,
    noise_as: NoiseAs = None, nulls: Nulls = "raise", undefined: Undefined = "null",
    log_base: LogBase = None, format_: Format = None, output: Output = None,
) -> None:  # fmt: skip
    """Score every run of a long table (run, point, label)."""
    with _data(file, table) as given, _working():
        frame = sv.score_runs(
            given["data"], con=given["con"], points=points, truth=truth, run=run, point=point,
            label=label, indices=_names(indices), weight=weight, noise=_noise(noise),
            noise_as=noise_as, nulls=nulls, undefined=undefined, log_base=log_base,
        )  # fmt: skip
    show.write(frame, format_, output)


@app.command()
def compare(
    file: File, labels: Labels, truth: Truth, table: TableName = None, weight: Weight = None,
    noise: Noise = None, noise_as: NoiseAs = None, nulls: Nulls = "raise",
    undefined: Undefined = "null", format_: Format = None, output: Output = None,
) -> None:  # fmt: skip
    """Compare clusterings pair by pair against a truth (the Prayatul matrix)."""
    with _data(file, table) as given, _working():
        frame = sv.compare(
            **given, labels=_list(labels), truth=truth, weight=weight, noise=_noise(noise),
            noise_as=noise_as, nulls=nulls, undefined=undefined,
        )  # fmt: skip
    show.write(frame, format_, output)


@app.command()
def match(
    file: File, labels: Labels, truth: Truth, table: TableName = None, weight: Weight = None,
    noise: Noise = None, noise_as: NoiseAs = None, nulls: Nulls = "raise",
    format_: Format = None, output: Output = None,
) -> None:  # fmt: skip
    """Give the assignment of clusters to classes that accuracy uses."""
    with _data(file, table) as given, _working():
        frame = sv.match(
            **given, labels=_list(labels), truth=truth, weight=weight, noise=_noise(noise),
            noise_as=noise_as, nulls=nulls,
        )  # fmt: skip
    show.write(frame, format_, output)


@app.command()
def contingency(
    file: File, truth: Truth, label: Annotated[str, typer.Option(help="label column")],
    table: TableName = None, weight: Weight = None, noise: Noise = None,
    noise_as: NoiseAs = None, nulls: Nulls = "raise", format_: Format = None,
    output: Output = None,
) -> None:  # fmt: skip
    """Count the points of every class and cluster that meet."""
    with _data(file, table) as given, _working():
        frame = sv.contingency(
            **given, truth=truth, label=label, weight=weight, noise=_noise(noise),
            noise_as=noise_as, nulls=nulls,
        )  # fmt: skip
    show.write(frame, format_, output)


@app.command()
def pairs(
    file: File, truth: Truth, label: Annotated[str, typer.Option(help="label column")],
    table: TableName = None, weight: Weight = None, noise: Noise = None,
    noise_as: NoiseAs = None, nulls: Nulls = "raise", format_: Format = None,
    output: Output = None,
) -> None:  # fmt: skip
    """Count pairs of points: together in both, in one of them, in neither."""
    with _data(file, table) as given, _working():
        frame = sv.pairs(
            **given, truth=truth, label=label, weight=weight, noise=_noise(noise),
            noise_as=noise_as, nulls=nulls,
        )  # fmt: skip
    show.write(frame, format_, output)


@app.command()
def explain(
    file: File, labels: Labels, truth: Truth, table: TableName = None, indices: Indices = None,
    weight: Weight = None,
) -> None:  # fmt: skip
    """Show what score would do: scans, statistics, SQL, cost."""
    with _data(file, table) as given:
        plan = sv.explain(
            **given, labels=_list(labels), truth=truth, indices=_names(indices), weight=weight
        )
    typer.echo(str(plan))


@app.command()
def indices(
    format_: Format = None, output: Output = None,
    family: Annotated[str | None, typer.Option(help="pairs, entropy, matching, …")] = None,
) -> None:  # fmt: skip
    """List every index."""
    frame = sv.indices()
    if family is not None:
        families = sorted(set(frame["family"]))
        if family not in families:
            raise BadArgument(f"no family {family!r}; there are {listed(families)}")
        frame = frame.filter(pl.col("family") == family)
    brief = frame.select("name", "family", "rule", "source", "aliases", "about")
    show.write(frame, format_, output, show.plain(brief))


@app.command()
def sql(
    table: Annotated[str, typer.Option(help="name of the table, schema.table if need be")],
    truth: Truth, label: Annotated[str, typer.Option(help="label column")],
    indices: Indices = None,
    dialect: Annotated[str, typer.Option(help=", ".join(DIALECTS))] = "duckdb",
    weight: Weight = None, log_base: LogBase = None,
) -> None:  # fmt: skip
    """Write one statement that computes indices in the SQL of any engine."""
    text = sv.sql(
        _names(indices), table=table, truth=truth, label=label, dialect=dialect, weight=weight,
        log_base=log_base,
    )  # fmt: skip
    typer.echo(text)


@app.command()
def demo(
    path: Annotated[bool, typer.Option("--path", help="only print where the data is")] = False,
) -> None:
    """Score seven clusterings of iris against its species."""
    if path:
        typer.echo(shipped.path())
        return
    to = show.console()
    frame = sv.iris()
    labels = frame.columns[5:]
    to.print("[bold]Seven clusterings of iris against its species[/] (150 flowers)\n")
    chosen = [
        "ari",
        "jaccard",
        "folkes_mallows",
        "accuracy",
        "purity",
        "bcubed_f1",
        "nmi",
        "ami",
        "vi",
    ]
    to.print(show.scored(sv.score(frame, labels, truth="species", indices=chosen)))
    to.print("\n[bold]Which clusters are which species[/] (the assignment behind accuracy)\n")
    to.print(show.plain(sv.match(frame, "km3", truth="species")))
    to.print("\n[bold]k-means against Ward, pair by pair[/] (the Prayatul matrix)\n")
    to.print(show.plain(sv.compare(frame, ["km3", "ward3"], truth="species")))
    to.print("\n[bold]Next[/]", "  data=$(sqlvalid demo --path)", sep="\n")
    for line in (
        "sqlvalid score $data --labels 'km*' --truth species",
        "sqlvalid score $data --labels dbscan --truth species --noise -1 --noise-as singletons",
        "sqlvalid sql --indices ari,nmi --table t --truth species --label km3 --dialect snowflake",
        "sqlvalid indices",
    ):
        to.print(f"  {line}", markup=False)


@contextmanager
def _data(file: str, table: str | None) -> Iterator[dict[str, Any]]:
    """The data of a call: a file, or a table of a database that is opened to be read."""
    if Path(file).suffix.lower() not in DATABASES:
        if table is not None:
            raise BadArgument(f"--table goes with a .duckdb file, and {file!r} is none")
        yield {"data": file, "con": None}
        return
    if not Path(file).exists():
        raise BadData(f"no file {file!r}")
    try:
        con = duckdb.connect(file, read_only=True)
    except duckdb.Error as error:
        raise BadData(f"{file!r} cannot be opened: {first_line(error)}") from error
    try:
        if table is None:
            names = [row[0] for row in con.sql("SHOW TABLES").fetchall()]
            raise BadArgument(f"{file!r} is a database: add --table NAME; it has {listed(names)}")
        yield {"data": table, "con": con}
    finally:
        con.close()


@contextmanager
def _working() -> Iterator[None]:
    """Show on a terminal that work is under way."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status("scoring…"):
        yield


def _list(given: list[str]) -> list[str]:
    return [part for text in given for part in text.split(",") if part]


def _names(given: list[str] | None) -> list[str] | None:
    return _list(given) if given else None


def _noise(given: str | None) -> int | float | str | None:
    """A noise label as the data would have it: a number if it reads as one."""
    for kind in (int, float):
        try:
            return kind(given) if given is not None else None
        except ValueError:
            continue
    return given


def main() -> None:
    """Run the command; a wrong call is one line on standard error and exit code 2."""
    try:
        code = app(sys.argv[1:] or ["--help"], standalone_mode=False, prog_name="sqlvalid")
    except BrokenPipeError:  # the reader of a pipe has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except (SqlvalidError, OSError) as error:
        code = _fail(str(error))
    except typer.TyperException as error:
        code = _fail(error.format_message())
    except (typer.Abort, KeyboardInterrupt):
        code = 130
    sys.exit(code or 0)


def _fail(message: str) -> int:
    typer.echo(f"sqlvalid: {' '.join(message.split())}", err=True)
    return 2
