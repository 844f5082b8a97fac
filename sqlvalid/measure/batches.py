"""Points in batches: read from where they lie, coded by cluster, added up on all cores."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp
from threadpoolctl import ThreadpoolController

from sqlvalid.compile import points as statements
from sqlvalid.engines import Engine, Scan
from sqlvalid.errors import BadData
from sqlvalid.features import Features
from sqlvalid.kernels.points import Codes, Floats

ROWS = 65_536  # of a batch
IN_MEMORY = 128 * 2**20  # bytes of points that are kept between scans
SQL_FEATURES = 32  # beyond it batches are faster than SQL
SQL_PARTITIONS = 2
CHANGED = "the data changed between two reads of it; score a copy that stays"

Way = Literal["memory", "sql", "batches"]


@dataclass(frozen=True, slots=True)
class Part:
    """One partition: its label column, the labels of its clusters, and the points of each.

    `alone` is the label whose points are each a cluster of their own, `singles` their number.
    """

    label: exp.Expr
    labels: pa.Array
    n: Floats
    alone: Any = None
    singles: int = 0

    @property
    def k(self) -> int:
        """The number of clusters."""
        return len(self.n) + self.singles


@dataclass(frozen=True, slots=True)
class Batch:
    """Some points about the shift, the codes of their clusters in each part, their weights."""

    x: Floats
    codes: Sequence[Codes]
    weights: Floats | None = None


Sums = list[dict[str, Any]]  # of each part
Work = Callable[[Batch], Sums]


def way(rows: int, p: int, parts: int, array: bool, alone: bool) -> Way:
    """How points are added up: kept in memory, in SQL where they lie, or in passing batches."""
    if rows * (8 * p + 4 * parts + 8) <= IN_MEMORY:
        return "memory"
    few = parts <= SQL_PARTITIONS and p <= SQL_FEATURES
    return "sql" if few and not array and not alone else "batches"


class Points:
    """The points of a call where they lie, with what is needed to read them."""

    def __init__(
        self, engine: Engine, scan: Scan, features: Features, parts: Sequence[Part],
        weight: str | None, where: Sequence[exp.Expr], rows: int,
    ) -> None:  # fmt: skip
        self.engine, self.scan, self.features = engine, scan, features
        self.parts, self.weight, self.where = list(parts), weight, tuple(where)
        self.coders = [coder(part.labels, part.alone) for part in parts]
        lone = any(part.alone is not None for part in parts)
        self.way = way(rows, features.p, len(parts), features.array is not None, lone)
        self._kept: list[Batch] | None = None

    def fold(self, work: Work) -> Sums:
        """Add up what `work` finds in every batch, for every part."""
        if self._kept is not None:
            return folded(self._kept, work)
        query = statements.points(
            self.scan.table,
            self.features.expressions(),
            [part.label for part in self.parts],
            self.weight,
            self.where,
        )
        kept: list[Batch] = []

        def both(raw: pa.RecordBatch) -> Sums:
            batch = self._ready(raw)
            if self.way == "memory":
                kept.append(batch)
            return work(batch)

        total = folded(self.engine.stream(query, ROWS), both)
        if self.way == "memory":
            self._kept = kept
        return total

    def all(self, key: exp.Expr) -> tuple[Floats, pa.Array, Floats | None]:
        """Every point in memory, with the value of an expression for each, and the weights."""
        query = statements.points(
            self.scan.table, self.features.expressions(), [key], self.weight, self.where
        )
        batches = list(self.engine.stream(query, ROWS))
        if not batches:
            raise BadData("no usable points are left")
        ready = [self._ready(raw) for raw in batches]
        x = np.concatenate([batch.x for batch in ready])
        keys = pa.concat_arrays([raw.column("l0") for raw in batches])
        weights = [batch.weights for batch in ready if batch.weights is not None]
        return x, keys, np.concatenate(weights) if weights else None

    def _ready(self, raw: pa.RecordBatch) -> Batch:
        x = self._matrix(raw)
        codes = [code(raw.column(f"l{i}")) for i, code in enumerate(self.coders)]
        weights = None
        if self.weight is not None:
            weights = raw.column("w").to_numpy(zero_copy_only=False)
        return Batch(x, codes, weights)

    def _matrix(self, raw: pa.RecordBatch) -> Floats:
        p = self.features.p
        x: Floats = np.empty((raw.num_rows, p))
        if self.features.array is None:
            for j in range(p):
                x[:, j] = raw.column(j).to_numpy(zero_copy_only=False)
            return x
        lists = raw.column(0)
        if lists.null_count:
            x.fill(np.nan)  # seen in the sums, and refused with a count
            return x
        values = lists.flatten().to_numpy(zero_copy_only=False)
        np.subtract(values.reshape(-1, p), np.array(self.features.shift), out=x)
        return x

    def moved(self, by: Floats) -> None:
        """Take the points about another shift from now on."""
        old = self.features.shift
        new = tuple(
            s + float(m) if isinstance(s, float) else s + round(float(m))
            for s, m in zip(old, by, strict=True)
        )
        self.features = replace(self.features, shift=new)
        if self._kept is not None:
            step = np.array([float(b - a) for a, b in zip(old, new, strict=True)])  # type: ignore[operator]
            self._kept = [replace(batch, x=batch.x - step) for batch in self._kept]


def pieces(batch: Batch, rows: int) -> Iterator[Batch]:
    """A batch as batches of some rows."""
    if len(batch.x) <= rows:
        yield batch
        return
    for start in range(0, len(batch.x), rows):
        some = slice(start, start + rows)
        w = None if batch.weights is None else batch.weights[some]
        yield Batch(batch.x[some], [codes[some] for codes in batch.codes], w)


def folded(batches: Iterable[Any], work: Callable[[Any], Sums]) -> list[Any]:
    """Add up the work of all batches, on all cores where there are several."""
    total: Sums = []
    source = iter(batches)
    first = next(source, None)
    if first is None:
        return total
    second = next(source, None)
    if second is None:
        add(total, work(first))
        return total
    allowed = getattr(os, "sched_getaffinity", None)  # not everywhere
    threads = len(allowed(0)) if allowed else os.cpu_count() or 1
    running: deque[Future[Sums]] = deque()
    with _blas().limit(limits=1), ThreadPoolExecutor(threads) as pool:
        try:
            for batch in _chained(first, second, source):
                running.append(pool.submit(work, batch))
                if len(running) > 2 * threads:
                    add(total, running.popleft().result())
            while running:
                add(total, running.popleft().result())
        finally:
            for future in running:
                future.cancel()
    return total


def _chained(first: Any, second: Any, rest: Iterator[Any]) -> Iterator[Any]:
    yield first
    yield second
    yield from rest


@cache
def _blas() -> ThreadpoolController:
    """The libraries of linear algebra; each batch gets one thread of them."""
    return ThreadpoolController()


def add(total: Sums, more: Sums) -> None:
    """Add the sums of a batch to the sums so far, part by part."""
    if not total:
        total.extend(more)
        return
    for old, new in zip(total, more, strict=True):
        for name, value in new.items():
            old[name] = old[name] + value


def _as_label(value: Any, kind: pa.DataType) -> pa.Array | None:
    """A value as labels of a type have it; None where they cannot have it."""
    if value is None:
        return None
    try:
        if pa.types.is_decimal(kind):
            return pa.array([Decimal(str(value))], type=kind)
        return pa.array([value]).cast(kind)  # which refuses to round
    except (pa.ArrowException, ArithmeticError):
        return None


def coder(known: pa.Array, alone: Any = None) -> Callable[[pa.Array], Codes]:
    """Give known labels a code in their order; k is left out, k + 1 is a cluster of its own."""
    k = len(known)
    codes = np.arange(k, dtype=np.int32)
    lone = _as_label(alone, known.type)
    if lone is not None:
        known, codes = pa.concat_arrays([known, lone]), np.append(codes, np.int32(k + 1))
    codes = np.append(codes, np.int32(k)).astype(np.int32)

    def by_search(labels: pa.Array) -> Codes:
        found = pc.fill_null(pc.index_in(labels, value_set=known), len(known))
        places = found.to_numpy(zero_copy_only=False)
        found_codes: Codes = codes[places]
        return found_codes

    if pa.types.is_integer(known.type) and len(known):
        limits = pc.min_max(known).as_py()
        low, high = limits["min"], limits["max"]
        if high - low < 2**20 and high < 2**63:
            table = np.full(high - low + 3, k, dtype=np.int32)
            table[known.to_numpy().astype(np.int64) - low + 1] = codes[:-1]

            def by_table(labels: pa.Array) -> Codes:
                if labels.null_count:
                    return by_search(labels)
                places = labels.to_numpy(zero_copy_only=False).astype(np.int64)
                places -= low - 1
                looked_up: Codes = table.take(places, mode="clip")
                return looked_up

            return by_table

    return by_search
