"""Indices → the statistics they read, each once, in an order in which each can be computed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import sqlglot
from sqlglot import exp

from sqlvalid import statistics
from sqlvalid.catalog import Index
from sqlvalid.statistics import ROOTS, Statistic

PARAMETERS = frozenset({"log_unit"})


@cache
def columns_of(expression: str) -> frozenset[str]:
    """Read off the statistic columns that a formula or a condition names.

    >>> sorted(columns_of("yy / (yy + ny)"))
    ['ny', 'yy']
    """
    tree = sqlglot.parse_one(expression, read="duckdb")
    return frozenset(column.name for column in tree.find_all(exp.Column)) - PARAMETERS


def columns_read(index: Index) -> frozenset[str]:
    """All columns that an index's formula and its undefined cases name."""
    texts = (index.formula, *(case.when for case in index.undefined))
    return frozenset().union(*(columns_of(text) for text in texts))


@dataclass(frozen=True, slots=True)
class Plan:
    """The statistics for some indices, in order, and the columns the formulas will read."""

    indices: tuple[Index, ...]
    statistics: tuple[Statistic, ...]
    columns: tuple[str, ...]
    kept: tuple[str, ...] = ()

    @property
    def kernels(self) -> tuple[Statistic, ...]:
        """The statistics that numpy computes."""
        return tuple(s for s in self.statistics if s.is_kernel)

    @property
    def of_points(self) -> tuple[Statistic, ...]:
        """The statistics that are found from sums over points."""
        return tuple(s for s in self.statistics if s.of_points)

    @property
    def sums(self) -> frozenset[str]:
        """The sums over points that are read."""
        return frozenset(name for s in self.of_points for name in s.reads)

    def readers(self, statistic: Statistic) -> list[str]:
        """Name what reads a statistic: the indices by a column of it, and other statistics."""
        indices = [i.name for i in self.indices if columns_read(i) & set(statistic.provides)]
        others = [s.name for s in self.statistics if statistic.name in s.reads]
        result = [f"the result ({c})" for c in self.kept if c in statistic.provides]
        return others + indices + result


def plan(indices: Sequence[Index], also: Iterable[str] = ()) -> Plan:
    """Order the statistics that `indices` read, each once; `also` names further columns.

    >>> from sqlvalid.catalog import resolve
    >>> [s.name for s in plan(resolve("purity")).statistics]
    ['sample', 'truth_sizes', 'label_sizes', 'cells', 'majority']
    """
    return _plan(tuple(indices), tuple(also))


@cache
def _plan(indices: tuple[Index, ...], also: tuple[str, ...]) -> Plan:
    provider = statistics.providers()
    wanted = dict.fromkeys(also)
    for index in indices:
        wanted.update(dict.fromkeys(sorted(columns_read(index))))
    ordered: dict[str, Statistic] = {}
    for column in wanted:
        _visit(provider[column], ordered)
    return Plan(indices, tuple(ordered.values()), tuple(wanted), also)


def _visit(statistic: Statistic, ordered: dict[str, Statistic]) -> None:
    if statistic.name not in ordered:
        for name in statistic.reads:
            if name not in ROOTS:
                _visit(statistics.load()[name], ordered)
        ordered[statistic.name] = statistic
