"""What an index is: one row, declared once, from which everything else is derived."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

Rule = Literal["max", "min", "zero", "max_diff", "min_diff"]
Needs = Literal["truth", "comparison", "features"]


@dataclass(frozen=True, slots=True)
class Undefined:
    """When an index has no value: a condition on statistics, and the reason to tell."""

    when: str
    reason: str


@dataclass(frozen=True, slots=True)
class Index:
    """One validity index.

    `formula` is a SQL expression over columns of statistics; which statistics it
    needs is read off those names. `swapped` names the index that takes its value when
    truth and labels change places: itself for a symmetric index, a leading "-" for a
    change of sign, None where there is no such index.
    """

    name: str
    family: str
    source: str
    formula: str
    about: str
    rule: Rule
    needs: Needs = "truth"
    aliases: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    lower: float = 0.0
    upper: float = 1.0
    perfect: float | None = 1.0
    swapped: str | None = None
    undefined: tuple[Undefined, ...] = ()
    parameter: str | None = None
    literal: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The canonical name and every alias."""
        return (self.name, *self.aliases)

    def with_parameter(self, value: float) -> Index:
        """Give the index at one value of its parameter, named after it.

        >>> from sqlvalid.catalog import resolve
        >>> resolve("pair_f(0.5)")[0].name
        'pair_f(0.5)'
        """
        if self.parameter is None or not 0 < value <= 1e100:
            raise ValueError(value)
        shown = f"{value:g}" if float(f"{value:g}") == value else repr(value)
        formula = self.formula.replace(f"{{{self.parameter}}}", repr(value))
        return replace(
            self, name=f"{self.name}({shown})", formula=formula, aliases=(), parameter=None
        )
