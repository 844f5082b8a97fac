"""Which columns are labels, how they are read, and what is done about NULLs, noise and weights."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, Literal

import numpy as np

from sqlvalid.engines.sources import Source
from sqlvalid.errors import BadArgument, BadData, UnknownColumn, did_you_mean, listed, one_of

# Grouping sets of one scan: beyond this, planning them costs more than another scan.
SETS_PER_SCAN = 16

_INTEGERS = frozenset(
    ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT",
     "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT")
)  # fmt: skip
_FLOATS = frozenset(("FLOAT", "DOUBLE"))
_NO_LABELS = (
    "STRUCT", "MAP", "UNION", "LIST", "INTERVAL", "VARIANT", "BIGNUM", "UHUGEINT",
)  # fmt: skip

NoiseAs = Literal["exclude", "cluster", "singletons"]
Nulls = Literal["raise", "drop"]
Undefined = Literal["null", "raise"]


@dataclass(frozen=True, slots=True)
class Policy:
    """What is done about NULLs and noise."""

    nulls: Nulls = "raise"
    noise: int | float | str | bool | None = None
    noise_as: NoiseAs | None = None

    @classmethod
    def of(cls, nulls: str, noise: Any, noise_as: str | None) -> Policy:
        """Check the arguments of a call."""
        one_of("nulls", nulls, ("raise", "drop"))
        if noise is None:
            if noise_as is not None:
                raise BadArgument(
                    f"noise_as={noise_as!r} needs noise=, the label that means noise, as noise=-1"
                )
            return cls(nulls)  # type: ignore[arg-type]
        noise = plain(noise)
        if not isinstance(noise, (int, float, str)):
            raise BadArgument(f"noise={noise!r}: give the label that means noise")
        noise_as = "exclude" if noise_as is None else noise_as
        one_of("noise_as", noise_as, ("exclude", "cluster", "singletons"))
        return cls(nulls, noise, noise_as)  # type: ignore[arg-type]

    def fitted(self, column: str, type_name: str) -> Policy:
        """The noise label as a column of this type has it; text is read as what it spells."""
        if self.noise is None:
            return self
        kind = kind_of(type_name)
        given = "text" if isinstance(self.noise, str) else "number"
        if isinstance(self.noise, bool):
            given = "boolean"
        if given == "text" and kind != given:
            spelt = _spelt(str(self.noise), kind)
            if spelt is not None:
                return replace(self, noise=spelt)
        if kind != given:
            raise BadData(
                f"noise={self.noise!r} is a {given}, but column {column!r} is {type_name}"
                f" ({kind}); give the noise label as that column has it"
            )
        return self


def plain(value: Any) -> Any:
    """A scalar of numpy as one of Python."""
    return value.item() if isinstance(value, np.generic) else value


def _spelt(text: str, kind: str) -> int | float | bool | None:
    """The number or boolean that a text spells, if it spells one."""
    if kind == "boolean":
        return {"true": True, "false": False}.get(text.lower())
    if kind == "number" and re.fullmatch(r"[+-]?\d+", text):
        return int(text)
    if kind == "number" and re.fullmatch(r"[+-]?\d*\.?\d+(e[+-]?\d+)?", text, re.IGNORECASE):
        return float(text)
    return None


def names_in(argument: str, given: object) -> list[str]:
    """A name or some names as a list; refuse what is neither."""
    found = [given] if isinstance(given, str) else given
    if not isinstance(found, Iterable):
        raise BadArgument(f"{argument}={given!r}: give a name or a list of names")
    found = list(found)
    for name in found:
        if not isinstance(name, str):
            raise BadArgument(f"{argument} holds {name!r}; give names of columns as text")
    return found


def kind_of(type_name: str) -> str:
    """What values of a type are compared with: numbers with numbers, text with text.

    >>> kind_of("DECIMAL(10,2)"), kind_of("ENUM('a', 'b')"), kind_of("TIMESTAMP_NS")
    ('number', 'text', 'time')
    """
    base = type_name.upper().split("(")[0]
    if base in _INTEGERS or base in _FLOATS or base == "DECIMAL":
        return "number"
    if base in ("VARCHAR", "ENUM"):
        return "text"
    if base.startswith(("TIMESTAMP", "DATE")):
        return "time"
    return base.lower()


def is_number(type_name: str) -> bool:
    """Whether values of a type can be features: numbers, and booleans as 0 and 1."""
    return kind_of(type_name) in ("number", "boolean")


def is_float(type_name: str) -> bool:
    """Whether values of a type may be NaN."""
    return type_name.upper() in _FLOATS


def choose_labels(
    source: Source, labels: str | Iterable[str], taken: Mapping[str | None, str]
) -> list[str]:
    """Turn a name, a list or globs into label columns, each once, in order.

    `taken` maps the columns that have another role to that role. A glob leaves them out;
    naming one of them is an error.
    """
    asked = names_in("labels", labels)
    if not asked:
        raise BadArgument("labels is empty; give the name of a label column, a list or a glob")
    found: dict[str, None] = {}
    for name in asked:
        if name in source.columns:
            if name in taken:
                raise BadArgument(
                    f"column {name!r} is given as a label column and as {taken[name]};"
                    " a clustering is not scored against itself"
                )
            found[name] = None
        elif any(c in name for c in "*?["):
            matched = [c for c in source.columns if fnmatchcase(c, name) and c not in taken]
            if not matched:
                raise UnknownColumn(
                    f"labels: no column of {source.what} matches {name!r};"
                    f" it has {listed(source.columns)}"
                )
            found.update(dict.fromkeys(matched))
        else:
            hint = did_you_mean(name, source.columns) or f"; it has {listed(source.columns)}"
            raise UnknownColumn(f"labels: no column {name!r} in {source.what}{hint}")
    return list(found)


def check_label_type(column: str, type_name: str) -> None:
    """Refuse what cannot be a label."""
    if type_name.endswith("]") or type_name.upper().startswith(_NO_LABELS):
        raise BadData(
            f"column {column!r} is {type_name}; labels must be plain values: numbers, text,"
            " booleans, dates or times. Cast it"
        )


def check_weight_type(column: str, type_name: str) -> None:
    """Refuse a weight that is not a number."""
    if kind_of(type_name) != "number":
        raise BadData(
            f"weight: column {column!r} is {type_name}; it must hold whole numbers of rows"
        )


def batches(
    keys: Sequence[tuple[str, ...]], types: dict[str, str]
) -> Iterator[list[tuple[str, ...]]]:
    """Share keys out over scans: those of one type together, so that no label is ever cast."""
    by_type: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for key in keys:
        by_type.setdefault(tuple(types[c] for c in key), []).append(key)
    for same in by_type.values():
        for start in range(0, len(same), SETS_PER_SCAN):
            yield same[start : start + SETS_PER_SCAN]
