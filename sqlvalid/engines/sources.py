"""What people hand over as data: frames, streams, files, tables, relations."""

from __future__ import annotations

import glob
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import duckdb
import polars as pl
import polars.selectors as cs
import pyarrow as pa
from sqlglot import exp

from sqlvalid.errors import BadArgument, BadData, UnknownColumn, did_you_mean, listed
from sqlvalid.identifiers import split_name, table

if TYPE_CHECKING:
    from collections.abc import Iterable

Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)
Kind = Literal["frame", "stream", "file", "table", "relation"]

_READERS = {
    ".parquet": "read_parquet", ".pq": "read_parquet",
    ".csv": "read_csv", ".tsv": "read_csv", ".txt": "read_csv",
}  # fmt: skip
_IPC = (".arrow", ".ipc", ".feather")
DATABASES = (".duckdb", ".db", ".ddb")
_COMPRESSED = (".gz", ".zst")

ALLOWED = (
    "a Polars DataFrame or LazyFrame, a pyarrow Table, RecordBatchReader or Dataset, a pandas"
    " DataFrame, anything with __arrow_c_stream__, a path or glob to parquet, CSV or Arrow IPC"
    " files, a DuckDB relation, or the name of a table or view with con="
)


@dataclass(frozen=True, slots=True)
class Source:
    """Data as it was given: its kind, its column names, and the object itself."""

    kind: Kind
    columns: tuple[str, ...]
    what: str
    payload: Any
    counted: bool = False  # whether its rows can be counted without reading them

    def require(self, name: object, role: str) -> str:
        """Check that a column exists, and give its name."""
        if not isinstance(name, str):
            raise BadArgument(f"{role}={name!r}: give the name of a column as text")
        if name not in self.columns:
            hint = did_you_mean(name, self.columns) or f"; it has {listed(self.columns)}"
            raise UnknownColumn(f"{role}: no column {name!r} in {self.what}{hint}")
        return name

    def narrowed(self, wanted: Sequence[str]) -> Any:
        """Give a frame's or stream's object with only the wanted columns where that is cheap."""
        twins = [] if self._selects else _twins(self.columns, wanted)
        twins = twins or _twins(wanted, wanted)
        if "" in wanted:
            raise BadData("a column without a name cannot be used; rename it")
        if twins:
            raise BadData(
                f"columns {listed(twins)} differ only in case, which SQL does not tell apart;"
                " rename one"
            )
        data = self.payload
        if isinstance(data, pl.DataFrame):
            return _checked_polars(data.select(cs.by_name(*wanted)))
        if isinstance(data, pl.LazyFrame):
            return _stream(_checked_polars(data.select(cs.by_name(*wanted))))
        if isinstance(data, pa.Table):
            return data.select(list(wanted))
        if _is_pandas(data):
            return _checked_pandas(data[list(wanted)])
        return data

    @property
    def _selects(self) -> bool:
        """Whether `narrowed` can leave columns out."""
        kinds = (pl.DataFrame, pl.LazyFrame, pa.Table)
        return isinstance(self.payload, kinds) or _is_pandas(self.payload)


def describe(data: object, con: duckdb.DuckDBPyConnection | None = None) -> Source:
    """Find out what was handed over as data, without reading it."""
    source = _described(data, con)
    twice = [name for name, times in Counter(source.columns).items() if times > 1]
    if twice:
        raise BadData(f"{source.what} has columns twice: {listed(twice)}; rename them")
    return source


def _described(data: object, con: duckdb.DuckDBPyConnection | None) -> Source:
    if con is not None and not isinstance(con, duckdb.DuckDBPyConnection):
        raise BadArgument(f"con={con!r}: give a connection made by duckdb.connect()")
    if isinstance(data, pl.DataFrame):
        return Source("frame", tuple(data.columns), "the frame", data, counted=True)
    if isinstance(data, pl.LazyFrame):
        return Source("stream", tuple(data.collect_schema().names()), "the lazy frame", data)
    if isinstance(data, duckdb.DuckDBPyRelation):
        return Source("relation", tuple(data.columns), "the relation", data)
    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    if isinstance(data, pa.Table):
        return Source("frame", tuple(data.column_names), "the table", data, counted=True)
    if isinstance(data, pa.RecordBatchReader):
        return Source("stream", tuple(data.schema.names), "the stream", data)
    if "pyarrow.dataset" in sys.modules and isinstance(
        data, sys.modules["pyarrow.dataset"].Dataset
    ):
        return Source("frame", tuple(data.schema.names), "the dataset", data)
    if _is_pandas(data):
        return _pandas(data)
    if hasattr(data, "__arrow_c_stream__"):
        reader = pa.RecordBatchReader.from_stream(data)
        return Source("stream", tuple(reader.schema.names), "the stream", reader)
    if isinstance(data, str) and con is not None:
        found = find_table(data, con)
        if found is not None:
            return found
        if not _looks_like_file(data):
            raise BadData(_no_table(data, con))
    if isinstance(data, (str, Path)):
        return _file(str(data))
    raise BadData(f"data of type {type(data).__name__} cannot be read; give {ALLOWED}")


def find_table(name: str, con: duckdb.DuckDBPyConnection) -> Source | None:
    """Look a table or view up by name; the name is only ever read as a name."""
    for parts in ([name], split_name(name)):
        if not _is_listed(parts[-1], con):
            continue  # so that no variable of Python is ever taken for a table
        tree = table(*parts)
        try:
            relation = con.table(tree.sql("duckdb"))
        except duckdb.CatalogException:
            continue
        except duckdb.Error as error:
            raise BadData(f"the connection does not answer: {said(error)}") from error
        return Source("table", tuple(relation.columns), f"table {name!r}", tree, counted=True)
    return None


def _is_listed(name: str, con: duckdb.DuckDBPyConnection) -> bool:
    try:
        return name.lower() in (known.lower() for known in _tables(con))
    except duckdb.Error as error:
        raise BadData(f"the connection does not answer: {said(error)}") from error


def _tables(con: duckdb.DuckDBPyConnection) -> list[str]:
    rows = con.sql(
        "SELECT table_name FROM duckdb_tables() UNION SELECT view_name FROM duckdb_views()"
        " WHERE NOT internal ORDER BY 1"
    ).fetchall()
    return [row[0] for row in rows]


def said(error: Exception) -> str:
    """What an engine's message says, on one line and not too long.

    >>> said(ValueError("no such file\\nLINE 1: ..."))
    'no such file LINE 1: ...'
    """
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 300 else text[:299] + "…"


def _no_table(name: str, con: duckdb.DuckDBPyConnection) -> str:
    names = _tables(con)
    hint = did_you_mean(name, names) or (f"; there are {listed(names)}" if names else "")
    return f"no table or view {name!r} on this connection{hint}"


def _suffix(path: str) -> str:
    suffixes = [s.lower() for s in Path(path).suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _looks_like_file(text: str) -> bool:
    return _suffix(text) in (*_READERS, *_IPC, *DATABASES) or "://" in text


def _file(path: str) -> Source:
    suffix = _suffix(path)
    found = [path] if "://" in path else sorted(glob.glob(path, recursive=True))
    if not found and Path(path).exists():
        found = [path]
    if not found:
        by_name = "" if _looks_like_file(path) else "; to read a table of that name give con="
        raise BadData(f"no file {path!r}{by_name}")
    if suffix in DATABASES:
        raise BadData(
            f"{path!r} is a database; open it with con = duckdb.connect({path!r})"
            " and give the name of a table with con=con"
        )
    if suffix in _IPC:
        import pyarrow.dataset

        try:
            dataset = pyarrow.dataset.dataset(found, format="ipc")
        except (pa.ArrowInvalid, OSError) as error:
            raise BadData(f"{path!r} is not Arrow IPC: {said(error)}") from error
        return Source("frame", tuple(dataset.schema.names), repr(path), dataset, counted=True)
    if suffix not in _READERS:
        raise BadData(
            f"{path!r}: files ending in {suffix!r} cannot be read;"
            f" use one of {listed((*_READERS, *_IPC))}"
        )
    # Glob characters in the name of a file that exists mean themselves.
    chosen = [glob.escape(path)] if found == [path] and "://" not in path else [path]
    call = exp.func(_READERS[suffix], exp.array(*(exp.Literal.string(c) for c in chosen)))
    counted = _READERS[suffix] == "read_parquet"
    return Source("file", (), repr(path), exp.Table(this=call), counted=counted)


def _is_pandas(data: object) -> bool:
    return "pandas" in sys.modules and isinstance(data, sys.modules["pandas"].DataFrame)


def _pandas(data: Any) -> Source:
    names = list(data.columns)
    if not all(isinstance(name, str) for name in names):
        raise BadData("the pandas frame has column names that are not text; rename them")
    return Source("frame", tuple(names), "the frame", data, counted=True)


def _checked_pandas(data: Any) -> Any:
    """Refuse object columns that mix types: as text, 1 and '1' would become one label."""
    infer = sys.modules["pandas"].api.types.infer_dtype
    for name in data.columns:
        if data[name].dtype == object:
            kind = infer(data[name], skipna=True)
            if kind.startswith("mixed"):
                raise BadData(
                    f"column {name!r} mixes types of values ({kind}); make them all text"
                    " or all numbers"
                )
    return data


def _checked_polars(data: Frame) -> Frame:
    """Refuse columns that Polars cannot hand over."""
    for name, dtype in data.collect_schema().items():
        if dtype in (pl.Object, pl.Int128, pl.UInt128):
            raise BadData(f"column {name!r} is {dtype}, which Arrow does not have; cast it")
    return data


def _stream(data: pl.LazyFrame) -> pa.RecordBatchReader:
    """Run a lazy frame in batches, so that it never has to fit the memory."""
    schema = pl.DataFrame(schema=data.collect_schema()).to_arrow().schema

    def batches() -> Iterator[pa.RecordBatch]:
        for frame in data.collect_batches():
            yield from frame.to_arrow().cast(schema).to_batches()

    return pa.RecordBatchReader.from_batches(schema, batches())


def _twins(names: Iterable[str], wanted: Iterable[str]) -> list[str]:
    """Names that differ only in case from a wanted one, and that one."""
    lower = {name.lower() for name in wanted}
    by_lower: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        if name.lower() in lower:
            by_lower.setdefault(name.lower(), []).append(name)
    return [name for same in by_lower.values() if len(same) > 1 for name in same]
