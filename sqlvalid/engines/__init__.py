"""Where the data is: one file per engine, and the little that the rest asks of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa
from sqlglot import exp

from sqlvalid.engines.sources import Source


@dataclass(frozen=True, slots=True)
class Scan:
    """Data that an engine can read: what stands in FROM, and the type of each column."""

    table: exp.Expr
    types: dict[str, str]


class Engine(Protocol):
    """What sqlvalid asks of an engine."""

    def scan(self, source: Source, wanted: Sequence[str]) -> Scan:
        """Make a source readable, with at least the wanted columns."""

    def kept(self, scan: Scan, wanted: Sequence[str]) -> Scan:
        """Read data once and keep it, so that it can be read again."""

    def fetch(self, query: exp.Expr) -> pa.Table:
        """Run one statement and bring its result home."""

    def stream(self, query: exp.Expr, rows: int) -> Iterator[pa.RecordBatch]:
        """Run one statement and bring its result home in batches of some rows."""

    def register(self, data: pa.Table) -> exp.Table:
        """Make a small table readable beside the data."""

    def close(self) -> None:
        """Leave the engine as it was found."""
