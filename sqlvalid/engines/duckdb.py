"""DuckDB: the user's connection, or one of our own that no one else sees."""

from __future__ import annotations

import atexit
import ctypes
import os
import tempfile
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
from sqlglot import exp

from sqlvalid.engines import Scan
from sqlvalid.engines.sources import Source, describe, said
from sqlvalid.errors import BadData, SqlvalidError
from sqlvalid.identifiers import column, table

Connection = duckdb.DuckDBPyConnection

FEW_ROWS = 20_000

_lock = threading.Lock()
_home: Connection | None = None


def private() -> Connection:
    """A connection of our own: a cursor on one in-memory database per process."""
    global _home
    with _lock:
        if _home is None:
            spill = os.path.join(tempfile.gettempdir(), f"sqlvalid-{os.getpid()}")
            _home = duckdb.connect(":memory:", config={"temp_directory": spill})
        return _home.cursor()


def _close_home() -> None:
    global _home
    if _home is not None:
        _home.close()
        _home = None


def _forget_home() -> None:
    """In a forked child: the parent's database can neither be used nor closed, so it is kept."""
    global _home, _lock
    if _home is not None:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(_home))  # its destructor would crash here
    _home, _lock = None, threading.Lock()


atexit.register(_close_home)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_home)


@contextmanager
def readable(what: str) -> Iterator[None]:
    """Turn an error of a library that reads data into one of ours that names what was read."""
    try:
        yield
    except SqlvalidError:
        raise
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except (duckdb.Error, pa.ArrowException, pl.exceptions.PolarsError, OSError) as error:
        raise BadData(f"{what} cannot be read: {said(error)}") from error
    except RuntimeError as error:
        if "interrupted" in str(error).lower():
            raise KeyboardInterrupt from None
        raise


class DuckDB:
    """An engine on the user's connection if one is given, else on a private one."""

    def __init__(self, con: Connection | None = None, *, alone: bool = True) -> None:
        self._alone = alone
        self._owned = con is None
        self.con = private() if con is None else con
        self._registered: list[str] = []
        self._relation: tuple[str, duckdb.DuckDBPyRelation] | None = None
        self._read = "the data"

    def __enter__(self) -> DuckDB:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave the connection as it was found."""
        for name in self._registered:
            self.con.unregister(name)
        self._registered.clear()
        self._relation = None
        if self._owned:
            self.con.close()

    def scan(self, source: Source, wanted: Sequence[str]) -> Scan:
        """Make a source readable, with at least the wanted columns."""
        self._read = source.what
        with readable(source.what):
            if source.kind in ("table", "file"):
                return self._typed(source.payload.copy())
            if source.kind == "relation":
                return self._scan_relation(source.payload, wanted)
            return self._typed(self.register(source.narrowed(wanted)))

    def kept(self, scan: Scan, wanted: Sequence[str]) -> Scan:
        """Read data once and keep it, so that it can be read again.

        On a connection of our own it is a temporary table, which goes to disk when
        memory is short.
        """
        query = exp.Select().from_(exp.alias_(scan.table, "src", table=True))
        query = query.select(*map(column, wanted))
        if not self._owned:
            return self._typed(self.register(self.fetch(query)))
        with readable(self._read):
            if self._relation is not None:
                # The relation lies on another connection: it is read from there.
                reader = self._query(query.sql("duckdb")).to_arrow_reader()
                self._relation = None
                query = exp.Select().select("*").from_(self.register(reader))
            name = _fresh()
            text = f"CREATE TEMP TABLE {name} AS {query.sql('duckdb')}"
            self._interruptible(lambda: self.con.execute(text))
            return self._typed(table(name))

    def _scan_relation(self, relation: duckdb.DuckDBPyRelation, wanted: Sequence[str]) -> Scan:
        """Run on the relation's own connection, or bring it here where it meets other data."""
        if not self._alone:
            columns = [exp.to_identifier(name, quoted=True).sql("duckdb") for name in wanted]
            chosen = relation.select(", ".join(columns))
            # The relation may lie on this very connection, which cannot stream to itself.
            here = chosen.to_arrow_reader() if self._owned else chosen.to_arrow_table()
            return self._typed(self.register(here))
        name = _fresh()
        self._relation = (name, relation)
        types = dict(zip(relation.columns, map(str, relation.types), strict=True))
        return Scan(table(name), types)

    def _typed(self, readable_as: exp.Expr) -> Scan:
        relation = self._query(
            exp.Select().select("*").from_(readable_as.copy()).limit(0).sql("duckdb")
        )
        return Scan(readable_as, dict(zip(relation.columns, map(str, relation.types), strict=True)))

    def register(self, data: Any) -> exp.Table:
        """Make an object readable under a name of its own until the engine is closed."""
        name = _fresh()
        self.con.register(name, data)
        self._registered.append(name)
        return table(name)

    def fetch(self, query: exp.Expr) -> pa.Table:
        """Run one statement and bring its result home as Arrow."""
        text = query.sql("duckdb")
        with readable(self._read):
            return self._interruptible(lambda: self._query(text).to_arrow_table())

    def _interruptible(self, run: Callable[[], Any]) -> Any:
        """Run a statement beside the main thread, which hears Ctrl-C at once and stops it.

        In the main thread itself DuckDB looks for signals only now and then, and on a busy
        machine hardly ever.
        """
        here = threading.current_thread() is threading.main_thread()
        if not here or self._relation is not None:  # a relation's connection is not at hand
            return run()
        with ThreadPoolExecutor(1) as aside:
            running = aside.submit(run)
            try:
                return running.result()
            except KeyboardInterrupt:
                while not running.done():  # it may not have begun, and then hears nothing
                    self.con.interrupt()
                    wait([running], timeout=0.1)
                raise

    def stream(self, query: exp.Expr, rows: int) -> Iterator[pa.RecordBatch]:
        """Run one statement and bring its result home in batches of some rows."""
        with readable(self._read):
            text = query.sql("duckdb")
            reader = self._interruptible(lambda: self._query(text).to_arrow_reader(rows))
            try:
                yield from reader
            finally:
                reader.close()

    def _query(self, text: str) -> duckdb.DuckDBPyRelation:
        if self._relation is not None and self._relation[0] in text:
            name, relation = self._relation
            result = relation.query(name, text)
        else:
            result = self.con.sql(text)
        assert result is not None  # every statement of ours is a SELECT
        return result


def open_source(data: object, con: Connection | None) -> Source:
    """Find out what was handed over and its columns; those of a file are read off its head."""
    with readable("the data"):
        source = describe(data, con)
    if source.kind != "file":
        return source
    with engine_for([source], con) as engine:
        return replace(source, columns=tuple(engine.scan(source, ()).types))


@contextmanager
def session(tables: Mapping[str, Any], rows: int) -> Iterator[Connection]:
    """A private connection on which some Arrow or Polars tables have names.

    With few rows to work on, rewriting a statement costs more than it saves.
    """
    con = private()
    try:
        if rows < FEW_ROWS:
            con.execute("PRAGMA disable_optimizer")
        with readable("the contingency table"):
            for name, data in tables.items():
                con.register(name, data)
            yield con
    finally:
        con.close()  # and with it the names


def _fresh() -> str:
    return f"sqlvalid_{uuid.uuid4().hex[:12]}"


def engine_for(sources: Sequence[Source], con: Connection | None) -> DuckDB:
    """Choose the connection: the user's where a source lies there, else a private one."""
    there = any(s.kind == "table" or (s.kind == "file" and "://" in s.what) for s in sources)
    return DuckDB(con if there else None, alone=len(sources) == 1)
