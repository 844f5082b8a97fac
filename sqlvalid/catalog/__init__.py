"""Every index, declared once: name, aliases, source, formula, rule, bounds, undefined cases."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlvalid.catalog import names
from sqlvalid.catalog.comparative import COMPARATIVE
from sqlvalid.catalog.external import EXTERNAL
from sqlvalid.catalog.index import Index, Needs, Rule, Undefined
from sqlvalid.catalog.internal import INTERNAL
from sqlvalid.errors import BadArgument

CATALOG: tuple[Index, ...] = (*EXTERNAL, *INTERNAL, *COMPARATIVE)

__all__ = [
    "CATALOG", "COMPARATIVE", "EXTERNAL", "INTERNAL",
    "Index", "Needs", "Rule", "Undefined", "resolve",
]  # fmt: skip


def resolve(
    wanted: str | Iterable[str] | None = None, among: Sequence[Index] = EXTERNAL
) -> list[Index]:
    """Turn names, aliases, prefixes and groups into rows, each once, in the order asked for.

    `among` holds the indices that apply to what was given; None asks for all of them.

    >>> [row.name for row in resolve(["Rand-Score", "fo", "accuracy"])]
    ['rand', 'folkes_mallows', 'max_matching']
    >>> len(resolve("clustercrit"))
    14
    """
    if wanted is None:
        wanted = "all"
    if not isinstance(wanted, Iterable):
        raise BadArgument(f"indices={wanted!r}: give a name or a list of names")
    asked = [wanted] if isinstance(wanted, str) else list(wanted)
    if not asked:
        raise BadArgument("indices is empty; leave it out for every index that applies")
    found: dict[str, Index] = {}
    for name in asked:
        if not isinstance(name, str):
            raise BadArgument(f"indices holds {name!r}; give names of indices as text")
        for row in names.find(name, among):
            found.setdefault(row.name, row)
    return list(found.values())
