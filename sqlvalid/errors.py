"""Every error sqlvalid raises on purpose: one base class, a few kinds.

All of them are `ValueError`s, so `except ValueError` keeps working in code that
does not know about sqlvalid.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class SqlvalidError(ValueError):
    """The base of every error that sqlvalid raises on purpose."""


class UnknownIndex(SqlvalidError):
    """No index, alias or group has this name, or several begin with it."""


class UnknownColumn(SqlvalidError):
    """A column that the data does not have."""


class BadData(SqlvalidError):
    """The data cannot be read, or holds what cannot be scored."""


class BadArgument(SqlvalidError):
    """An argument of a call has a value that is not allowed."""


class UndefinedIndex(SqlvalidError):
    """An index has no value on this data, and the caller asked for an error."""


class Inexpressible(SqlvalidError):
    """What was asked for cannot be written in that SQL dialect."""


def listed(names: Iterable[object], most: int = 12) -> str:
    """Write names for a message: quoted, comma-separated, cut after `most`.

    >>> listed(["a", "b"])
    "'a', 'b'"
    >>> listed(range(4), most=2)
    '0, 1 and 2 more'
    """
    shown = [repr(name) for name in names]
    rest = len(shown) - most
    return ", ".join(shown[:most]) + (f" and {rest} more" if rest > 0 else "")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Give the hint for a misspelt name: near names if there are any, else nothing.

    >>> did_you_mean("specis", ["species", "km3"])
    "; did you mean 'species'?"
    >>> did_you_mean("zzz", ["species", "km3"])
    ''
    """
    by_lower: dict[str, str] = {}
    for candidate in known:
        by_lower.setdefault(candidate.lower(), candidate)
    close = get_close_matches(name.lower(), list(by_lower), n=3, cutoff=0.6)
    return f"; did you mean {listed(by_lower[c] for c in close)}?" if close else ""


def one_of(argument: str, value: object, allowed: Iterable[str]) -> None:
    """Refuse a value that is not among the allowed words."""
    choices = list(allowed)
    if value not in choices:
        raise BadArgument(f"{argument}={value!r} is not allowed; use one of {listed(choices)}")
