"""The command `sqlvalid`: the verbs, with the same words.

A verb that reads data becomes a command by its signature: its data is a file, or a
table of a database file, and every other parameter is the option of that name.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import duckdb
import polars as pl
import typer
from rich.console import Console
from rich.table import Table as RichTable

import sqlvalid as sv
from sqlvalid import demo as shipped
from sqlvalid import partitions, show
from sqlvalid.compile import DIALECTS
from sqlvalid.describe import Explanation
from sqlvalid.engines.duckdb import Connection
from sqlvalid.engines.sources import DATABASES, said
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
Table = Annotated[str | None, typer.Option("--table", help="table or view of a .duckdb file")]
Format = Annotated[
    show.Format | None, typer.Option("--format", "-f", help="how to write; by the file's ending")
]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="file to write")]

# How the parameters of the verbs are given on the command line.
OPTIONS: dict[str, Any] = {
    "labels": Annotated[
        list[str],
        typer.Option("--labels", "-l", help="label columns: a,b,c or a glob; may be repeated"),
    ],
    "label": Annotated[str, typer.Option("--label", help="label column")],
    "truth": Annotated[
        str | None, typer.Option("--truth", "-t", help="column with the true classes")
    ],
    "features": Annotated[
        list[str] | None,
        typer.Option(
            "--features", "-x", help="feature columns: x,y or a glob, or one array column"
        ),
    ],
    "standardize": Annotated[
        bool, typer.Option("--standardize", help="divide features by their standard deviation")
    ],
    "points": Annotated[str, typer.Option("--points", help="file or table with truth or features")],
    "run": Annotated[str, typer.Option("--run", help="column of runs")],
    "point": Annotated[str, typer.Option("--point", help="column of points, in both tables")],
    "indices": Annotated[
        list[str] | None,
        typer.Option("--indices", "-i", help="names, prefixes or groups: ari,nmi; all by default"),
    ],
    "weight": Annotated[str | None, typer.Option("--weight", help="column with row counts")],
    "noise": Annotated[str | None, typer.Option("--noise", help="label that means noise, as -1")],
    "noise_as": Annotated[
        partitions.NoiseAs | None,
        typer.Option("--noise-as", help="what to do with noise; exclude by default"),
    ],
    "nulls": Annotated[
        partitions.Nulls, typer.Option("--nulls", help="what to do about NULL labels and features")
    ],
    "undefined": Annotated[
        partitions.Undefined,
        typer.Option("--undefined", help="what to do where an index is undefined"),
    ],
    "log_base": Annotated[
        float | None, typer.Option("--log-base", help="base of logarithms; e by default")
    ],
    "dialect": Annotated[str, typer.Option("--dialect", help=", ".join(DIALECTS))],
    "table": Annotated[str, typer.Option("--table", help="table, or schema.table")],
}
REQUIRED = frozenset({"labels", "label", "points", "table"})


def _parameter(name: str, default: object, needed: bool) -> inspect.Parameter:
    """The option of a verb's parameter."""
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if needed else default,
        annotation=OPTIONS[name],
    )


def _fixed(name: str, annotation: object, default: object = None) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=default, annotation=annotation)


def _options(verb: Callable[..., object], leave_out: tuple[str, ...]) -> list[inspect.Parameter]:
    """The options of a verb; `label` names a column of runs where it has a default."""
    options = []
    for name, p in inspect.signature(verb).parameters.items():
        if name not in leave_out:
            needed = name in REQUIRED and not isinstance(p.default, str)
            needed = needed or (name == "truth" and verb in (sv.compare, sv.match))
            options.append(_parameter(name, p.default, needed))
    return options


def _read(options: dict[str, Any]) -> dict[str, Any]:
    """Turn what was typed into what the verbs take."""
    for name in ("labels", "features", "indices"):
        if options.get(name):
            options[name] = [part for text in options[name] for part in text.split(",") if part]
        elif name in options:
            options[name] = None
    return options


def _add(
    verb: Callable[..., Any], tabled: Callable[[pl.DataFrame], RichTable] = show.plain
) -> None:
    """Make a command of a verb that reads data."""
    data = next(iter(inspect.signature(verb).parameters))

    def command(file: str, table: str | None, **options: Any) -> None:
        format_, output = options.pop("format_", None), options.pop("output", None)
        with _data(file, table) as (given, con), _working():
            found = verb(given, con=con, **_read(options))
        if isinstance(found, Explanation):
            typer.echo(str(found))
        else:
            show.write(found, format_, output, tabled(found))

    parameters = [
        _fixed("file", File, inspect.Parameter.empty),
        *_options(verb, leave_out=(data, "con")),
        _fixed("table", Table),
    ]
    if verb is not sv.explain:
        parameters += [_fixed("format_", Format), _fixed("output", Output)]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {}
    about = (verb.__doc__ or "").strip().splitlines()[0]
    app.command(verb.__name__.replace("_", "-"), help=about)(command)


_add(sv.score, show.scored)
_add(sv.score_runs)
_add(sv.compare, show.compared)
_add(sv.match)
_add(sv.contingency)
_add(sv.pairs)
_add(sv.centroids)
_add(sv.scatter)
_add(sv.explain)


@app.command()
def indices(
    format_: Format = None, output: Output = None,
    family: Annotated[str | None, typer.Option(help="pairs, entropy, matching, …")] = None,
) -> None:  # fmt: skip
    """List every index of the catalog."""
    frame = sv.indices()
    if family is not None:
        families = sorted(set(frame["family"]))
        if family not in families:
            raise BadArgument(f"no family {family!r}; there are {listed(families)}")
        frame = frame.filter(pl.col("family") == family)
    brief = frame.select("name", "rule", "source", "about")
    show.write(frame, format_, output, show.plain(brief))


def _add_sql() -> None:
    def command(**options: Any) -> None:
        typer.echo(sv.sql(**_read(options)))

    parameters = _options(sv.sql, leave_out=())
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {}
    app.command("sql", help="Write one statement for the SQL of any engine.")(command)


_add_sql()


@app.command()
def demo(
    path: Annotated[bool, typer.Option("--path", help="only print where the data is")] = False,
) -> None:
    """Score five clusterings of iris against its species, and by the flowers themselves."""
    if path:
        typer.echo(shipped.path())
        return
    to = show.console()
    frame = sv.iris()
    labels = ["km2", "km3", "km4", "ward3", "dbscan"]
    to.print("[bold]Five clusterings of iris against its species[/] (150 flowers)\n")
    chosen = ["ari", "jaccard", "hubert", "accuracy", "purity", "bcubed_f1", "nmi", "ami", "vi"]
    show.put(to, show.scored(sv.score(frame, labels, truth="species", indices=chosen)))
    to.print("\n[bold]The same by the flowers alone[/] (no truth)\n")
    flowers = ["sepal_*", "petal_*"]
    inner = ["calinski_harabasz", "davies_bouldin", "pbm", "s_dbw", "silhouette_simplified"]
    show.put(to, show.scored(sv.score(frame, labels, features=flowers, indices=inner)))
    to.print("\n[bold]Which clusters are which species[/] (the assignment behind accuracy)\n")
    show.put(to, show.plain(sv.match(frame, "km3", truth="species")))
    to.print("\n[bold]k-means against DBSCAN, pair by pair[/] (the Prayatul matrix)\n")
    show.put(to, show.compared(sv.compare(frame, ["km3", "dbscan"], truth="species")))
    to.print("\n[bold]Next[/]", "  data=$(sqlvalid demo --path)", sep="\n")
    for line in (
        "sqlvalid score $data --labels 'km*' --truth species",
        "sqlvalid score $data --labels 'km*' --features 'sepal_*,petal_*' --standardize",
        "sqlvalid score $data --labels dbscan --truth species --noise -1 --noise-as singletons",
        "sqlvalid sql --indices ari,nmi --table t --truth species --label km3 --dialect snowflake",
        "sqlvalid indices",
    ):
        to.print(f"  {line}", markup=False, soft_wrap=True)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"sqlvalid {sv.__version__}")
        raise typer.Exit


@app.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", help="print the version", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Validity indices of clusterings, where the tables are."""


@contextmanager
def _data(file: str, table: str | None) -> Iterator[tuple[str, Connection | None]]:
    """The data of a call: a file, or a table of a database that is opened to be read."""
    if Path(file).suffix.lower() not in DATABASES:
        if table is not None:
            raise BadArgument(f"--table goes with a .duckdb file, and {file!r} is none")
        yield file, None
        return
    if not Path(file).exists():
        raise BadData(f"no file {file!r}")
    try:
        con = duckdb.connect(file, read_only=True)
    except duckdb.Error as error:
        raise BadData(f"{file!r} cannot be opened: {said(error)}") from error
    try:
        if table is None:
            names = [row[0] for row in con.sql("SHOW TABLES").fetchall()]
            raise BadArgument(f"{file!r} is a database: add --table NAME; it has {listed(names)}")
        yield table, con
    finally:
        con.close()


@contextmanager
def _working() -> Iterator[None]:
    """Show on a terminal that work is under way."""
    if not sys.stderr.isatty():
        yield
        return
    with Console(stderr=True).status("scoring…"):
        yield


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
