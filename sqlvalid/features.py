"""Which columns are features, and whether they hold numbers that can be used."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fnmatch import fnmatchcase

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sqlglot import exp

from sqlvalid.compile import literal, points
from sqlvalid.engines import Engine, Scan
from sqlvalid.engines.sources import Source
from sqlvalid.errors import BadArgument, BadData, UnknownColumn, did_you_mean, listed
from sqlvalid.identifiers import column
from sqlvalid.partitions import Nulls, is_number, names_in

Exact = float | int | Decimal
Shift = tuple[Exact, ...]

_ARRAY = re.compile(r"(?P<of>.+)\[(?P<length>\d*)\]")
_SAMPLE = 1000
_EXACT = 2**53


@dataclass(frozen=True, slots=True)
class Features:
    """The features of a call: p columns of numbers, or one column of arrays of p numbers.

    `shift` is a value of each feature near the middle; points are taken about it.
    """

    names: tuple[str, ...]
    columns: tuple[str, ...]
    array: str | None
    shift: Shift
    usable: tuple[exp.Expr, ...] = ()

    @property
    def p(self) -> int:
        """The number of features."""
        return len(self.names)

    def expressions(
        self, shift: Shift | None = None, scale: NDArray[np.float64] | None = None
    ) -> list[exp.Expr]:
        """The features in SQL about a shift; an array is one expression, and not shifted."""
        if self.array is not None:
            of = f"{'FLOAT' if self.array == 'FLOAT' else 'DOUBLE'}[{self.p}]"
            return [exp.cast(column(self.columns[0]), exp.DataType.build(of, dialect="duckdb"))]
        used = self.shift if shift is None else shift
        found = [points.shifted(c, s) for c, s in zip(self.columns, used, strict=True)]
        if scale is None:
            return found
        return [
            exp.Paren(this=exp.Div(this=f, expression=literal(float(s))))
            for f, s in zip(found, scale, strict=True)
        ]


def choose_features(
    source: Source, features: str | Iterable[str], taken: dict[str, str]
) -> list[str]:
    """Turn a name, a list or globs into feature columns, each once, in order.

    `taken` maps the columns that have another role to that role. A glob leaves them
    out; naming one of them is an error.
    """
    asked = names_in("features", features)
    if not asked:
        raise BadArgument("features is empty; give the name of a feature column, a list or a glob")
    found: dict[str, None] = {}
    for name in asked:
        if name in source.columns:
            if name in taken:
                raise BadArgument(f"column {name!r} is given as a feature and as {taken[name]}")
            found[name] = None
        elif any(c in name for c in "*?["):
            matched = [c for c in source.columns if fnmatchcase(c, name) and c not in taken]
            if not matched:
                raise UnknownColumn(
                    f"features: no column of {source.what} matches {name!r};"
                    f" it has {listed(source.columns)}"
                )
            found.update(dict.fromkeys(matched))
        else:
            hint = did_you_mean(name, source.columns) or f"; it has {listed(source.columns)}"
            raise UnknownColumn(f"features: no column {name!r} in {source.what}{hint}")
    return list(found)


def open_features(
    engine: Engine,
    scan: Scan,
    columns: Sequence[str],
    nulls: Nulls,
    where: Sequence[exp.Expr],
    *,
    glance: bool = False,
) -> Features:
    """See what the feature columns hold: their type, their length, a value near the middle.

    At a glance, only the first rows are looked at.
    """
    array = _check_types(columns, scan.types)
    conditions: tuple[exp.Expr, ...] = ()
    if nulls == "drop" and (glance or _faults(engine, scan, columns, where, array is not None)):
        conditions = tuple(points.finite(c, array=array is not None) for c in columns)
    usable = [*where, *conditions]
    sample = engine.fetch(points.head(scan.table, columns, usable, _SAMPLE))
    if array is None:
        types = [scan.types[c] for c in columns]
        shift = tuple(_middle(sample[c], t) for c, t in zip(columns, types, strict=True))
        return Features(tuple(columns), tuple(columns), None, shift, conditions)
    if glance and has_lists(scan.types[columns[0]]):
        lists = sample[columns[0]].drop_null()
        p = len(lists[0]) if len(lists) else 1
        names = tuple(f"{columns[0]}_{i}" for i in range(1, p + 1))
        return Features(names, tuple(columns), array, (0.0,) * p, conditions)
    p = _length(engine, scan, columns[0], usable)
    names = tuple(f"{columns[0]}_{i}" for i in range(1, p + 1))
    values = _matrix(sample[columns[0]], p)
    if array not in ("FLOAT", "DOUBLE") and (np.abs(values) > _EXACT).any():
        raise BadData(
            f"features: column {columns[0]!r} holds numbers beyond 2**53, which lose digits in a"
            " list; give them as columns, or take off what they have in common"
        )
    middles = (_lower_median(values[:, j]) for j in range(p))
    return Features(names, tuple(columns), array, tuple(middles), conditions)


def _check_types(columns: Sequence[str], types: dict[str, str]) -> str | None:
    """Refuse what is not numbers; give the type of the elements of an array column."""
    arrays = {}
    for name in columns:
        kind = types[name]
        inside = _ARRAY.fullmatch(kind)
        if inside:
            arrays[name] = inside["of"]
            kind = inside["of"]
        if not is_number(kind) or kind == "UHUGEINT":
            raise BadData(
                f"features: column {name!r} is {types[name]}; a feature holds numbers, or arrays"
                " of numbers. Leave it out, or cast it"
            )
    if arrays and len(columns) > 1:
        raise BadArgument(
            f"features: column {next(iter(arrays))!r} is an array, which is given alone;"
            f" there are {len(columns)} feature columns"
        )
    return next(iter(arrays.values()), None)


def has_lists(type_name: str) -> bool:
    """Whether a column of a type holds lists, whose lengths only the data tells."""
    inside = _ARRAY.fullmatch(type_name)
    return inside is not None and not inside["length"]


def _length(engine: Engine, scan: Scan, name: str, where: Sequence[exp.Expr]) -> int:
    inside = _ARRAY.fullmatch(scan.types[name])
    if inside and inside["length"]:
        return int(inside["length"])
    row = engine.fetch(points.lengths(scan.table, name, where)).to_pylist()[0]
    shortest, longest = row["shortest"], row["longest"]
    if longest is None:
        raise BadData(f"features: column {name!r} has no values")
    if shortest != longest:
        raise BadData(
            f"features: column {name!r} has lists of {shortest} to {longest} numbers;"
            " every point needs the same number of features"
        )
    if longest == 0:
        raise BadData(f"features: column {name!r} has empty lists")
    return int(longest)


def _matrix(values: pa.ChunkedArray, p: int) -> NDArray[np.float64]:
    lists = values.drop_null().to_pylist()
    given = [[np.nan if v is None else float(v) for v in row] for row in lists]
    return np.array(given, dtype=np.float64).reshape(len(lists), p)


def _middle(values: pa.ChunkedArray, type_name: str) -> Exact:
    """A value of a feature near its middle; it stays exact where a float cannot hold it."""
    if type_name.upper().startswith(("BIGINT", "UBIGINT", "HUGEINT", "DECIMAL")):
        exact = sorted(values.drop_null().to_pylist())
        if exact and max(-exact[0], exact[-1]) > _EXACT:
            middle = exact[(len(exact) - 1) // 2]
            return middle if type_name.upper().startswith("DECIMAL") else int(middle)
    numbers = values.drop_null()
    return _lower_median(np.array([float(v) for v in numbers.to_pylist()], dtype=np.float64))


def _lower_median(values: NDArray[np.float64]) -> float:
    """The median that is itself a value, so that a constant feature becomes 0 exactly."""
    values = np.sort(values[np.isfinite(values)])
    return float(values[(len(values) - 1) // 2]) if len(values) else 0.0


def refuse_faults(
    engine: Engine, scan: Scan, features: Features, where: Sequence[exp.Expr]
) -> None:
    """Say why sums over features are not numbers: which column, how many rows."""
    found = _faults(engine, scan, features.columns, where, features.array is not None)
    if found:
        name, what, count = found[0]
        s = "" if count == 1 else "s"
        more = f" (and {len(found) - 1} more columns have such rows)" if len(found) > 1 else ""
        raise BadData(
            f"features: column {name!r} is {what} in {count} row{s}{more};"
            ' give nulls="drop" to leave such rows out, or fill them'
        )
    raise BadData("features: values are so large that their squares are no numbers; scale them")


def _faults(
    engine: Engine, scan: Scan, columns: Sequence[str], where: Sequence[exp.Expr], array: bool
) -> list[tuple[str, str, int]]:
    row = engine.fetch(points.faults(scan.table, columns, where, array=array)).to_pylist()[0]
    found = []
    for place, name in enumerate(columns):
        broken = "NULL, NaN or infinite in an element" if array else "NaN or infinite"
        for key, what in (("null", "NULL"), ("broken", broken)):
            if row[f"{key}_{place}"]:
                found.append((name, what, row[f"{key}_{place}"]))
    return found
