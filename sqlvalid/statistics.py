"""Statistics: what each SELECT of `sql/statistics` provides and reads, and the kernels beside them.

A statistic has one row per partition (`part`), or it is a table that other
statistics read. The roots, which no file defines, are `contingency` (part, truth,
label, n) and `triples` (part, truth, label, other, n): the compiler writes them from
the data at hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import sqlglot
from sqlglot import exp

from sqlvalid.errors import SqlvalidError

ROOTS = ("contingency", "triples")


@dataclass(frozen=True, slots=True)
class Statistic:
    """One SELECT, or one kernel: the columns it provides and the statistics it reads."""

    name: str
    about: str
    provides: tuple[str, ...]
    reads: tuple[str, ...]
    query: exp.Select | None = None

    @property
    def is_table(self) -> bool:
        """Whether it has several rows per part, for other statistics to read."""
        return not {"truth", "label", "size"}.isdisjoint(self.provides)

    @property
    def is_kernel(self) -> bool:
        """Whether numpy computes it, and not SQL."""
        return self.query is None


KERNELS = (
    Statistic(
        "matching",
        "the points on the best one-to-one assignment of clusters to classes",
        ("matched_points",),
        ("contingency",),
    ),
    Statistic(
        "chance",
        "the mutual information expected of two random partitions with these sizes",
        ("expected_mi_nats",),
        ("contingency",),
    ),
    Statistic(
        "tail",
        "the upper tail of McNemar's chi-squared",
        ("chi2_tail",),
        ("pair_counts",),
    ),
)


def folder() -> Traversable:
    """The SQL files: inside the installed package, or beside it in a source tree."""
    inside = files("sqlvalid") / "sql"
    if inside.is_dir():
        return inside
    return Path(__file__).resolve().parent.parent / "sql"


@cache
def load() -> dict[str, Statistic]:
    """Read every statistic: those of `sql/statistics/*.sql` and the kernels.

    >>> load()["pair_counts"].reads
    ('ordered_pairs', 'sample')
    """
    found = {kernel.name: kernel for kernel in KERNELS}
    for file in (folder() / "statistics").iterdir():
        if file.name.endswith(".sql"):
            statistic = parse(file.name.removesuffix(".sql"), file.read_text(encoding="utf-8"))
            found[statistic.name] = statistic
    return found


def parse(name: str, text: str) -> Statistic:
    """Read a statistic off its SQL text; the definition is the comment at its head."""
    query = sqlglot.parse_one(text, read="duckdb")
    if not isinstance(query, exp.Select):
        raise SqlvalidError(f"sql/statistics/{name}.sql is not one SELECT")
    comments = [line[2:].strip() for line in text.splitlines() if line.startswith("--")]
    about = " ".join(comments).removeprefix(f"{name}: ")
    for node in query.walk():
        node.comments = None
    provides = tuple(c for c in query.named_selects if c != "part")
    reads = dict.fromkeys(table.name for table in query.find_all(exp.Table))
    return Statistic(name, about, provides, tuple(reads), query)


@cache
def providers() -> dict[str, Statistic]:
    """Map each column that a formula may name to the one statistic that provides it.

    >>> providers()["yy"].name
    'pair_counts'
    """
    found: dict[str, Statistic] = {}
    for statistic in load().values():
        if statistic.is_table:
            continue
        for column in statistic.provides:
            if column in found:
                both = f"{found[column].name} and {statistic.name}"
                raise SqlvalidError(f"column {column!r} is provided by {both}")
            found[column] = statistic
    return found
