"""Names people type → rows of the catalog: aliases, prefixes, groups, parameters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from sqlvalid.catalog.index import Index
from sqlvalid.errors import UnknownIndex, did_you_mean, listed

_PARAMETERISED = re.compile(r"(?P<name>[^()]+)\((?P<value>[^()]*)\)")


def normalise(name: str) -> str:
    """Fold what people type alike: case, spaces and hyphens.

    >>> normalise(" Folkes-Mallows ")
    'folkes_mallows'
    """
    return re.sub(r"[\s_-]+", "_", name.strip().lower())


def groups_of(rows: Iterable[Index]) -> dict[str, list[Index]]:
    """Collect the groups that rows belong to; `all` is every row that needs no parameter."""
    groups: dict[str, list[Index]] = {"all": []}
    for row in rows:
        if row.parameter is None:
            for group in ("all", *row.groups):
                groups.setdefault(group, []).append(row)
    return groups


def find(name: str, rows: Sequence[Index]) -> list[Index]:
    """Find the row, or the rows of the group, that a name means among `rows`."""
    if match := _PARAMETERISED.fullmatch(name.strip()):
        return [_with_parameter(name, match["name"], match["value"], rows)]
    wanted = normalise(name)
    for row in rows:
        if wanted in row.names:
            return [_needs_no_parameter(row)]
    groups = groups_of(rows)
    if wanted in groups:
        return groups[wanted]
    return [_needs_no_parameter(_by_prefix(name, wanted, rows, list(groups)))]


def _by_prefix(name: str, wanted: str, rows: Sequence[Index], groups: list[str]) -> Index:
    begun = {n: row for row in rows for n in row.names if wanted and n.startswith(wanted)}
    shortest = min(begun, key=len, default="")
    if begun and all(n.startswith(shortest) or row is begun[shortest] for n, row in begun.items()):
        return begun[shortest]
    if begun:
        candidates = sorted({row.name for row in begun.values()})
        raise UnknownIndex(f"index {name!r} is ambiguous; it begins {listed(candidates)}")
    known = [n for row in rows for n in row.names] + groups
    raise UnknownIndex(
        f"no index {name!r}{did_you_mean(wanted, known)}"
        f"; sqlvalid.indices() lists all, and these are groups: {listed(groups)}"
    )


def _with_parameter(name: str, base: str, value: str, rows: Sequence[Index]) -> Index:
    takers = [row for row in rows if row.parameter is not None]
    for row in takers:
        if normalise(base) in row.names:
            try:
                return row.with_parameter(float(value))
            except ValueError:
                raise UnknownIndex(
                    f"{name!r}: {row.parameter} must be a positive number (up to 1e100),"
                    f" as in '{row.name}(0.5)'"
                ) from None
    forms = [f"{row.name}({row.parameter})" for row in takers]
    raise UnknownIndex(f"no index {name!r}; those with a parameter are {listed(forms)}")


def _needs_no_parameter(row: Index) -> Index:
    if row.parameter is not None:
        raise UnknownIndex(f"{row.name!r} needs its {row.parameter}, as in '{row.name}(0.5)'")
    return row
