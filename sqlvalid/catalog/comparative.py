"""The Prayatul measures: a truth, a primary clustering and an alternative (P 5-9).

br, rw, wr, bw count pairs of points: both right, only the primary right, only the
alternative right, both wrong.
"""

from __future__ import annotations

from sqlvalid.catalog.index import Index, Undefined

_NO_PAIR = Undefined("br + rw + wr + bw = 0", "one point makes no pair")


def _measure(name: str, source: str, formula: str, about: str, **more: object) -> Index:
    row: dict[str, object] = {
        "rule": "max",
        "needs": "comparison",
        "groups": ("comparative",),
        "lower": -1.0,
        "perfect": None,
    } | more
    return Index(name, "comparative", source, formula, about, **row)  # type: ignore[arg-type]


COMPARATIVE: tuple[Index, ...] = (
    _measure(
        "comparative_deviation",
        "P 5",
        "CASE WHEN rw + wr = 0 THEN 0 ELSE (rw - wr) / (rw + wr) END",
        "Where the two differ, how much oftener the primary is right; 0 when they never differ.",
        swapped="-comparative_deviation",
    ),
    _measure(
        "polarization",
        "P 6",
        "(br + rw - bw) / (br + rw + wr + bw)",
        "How far the primary leans to right decisions.",
        undefined=(_NO_PAIR,),
    ),
    _measure(
        "comparative_rightness",
        "P 7",
        "CASE WHEN br + rw + wr = 0 THEN 0 ELSE (br + rw) / (br + rw + wr) END",
        "Of the pairs that either gets right, the share the primary gets right.",
        lower=0.0,
    ),
    _measure(
        "effective_rightness",
        "P 8",
        "CASE WHEN br + rw + wr = 0 THEN 0 ELSE (br + rw - wr) / (br + rw + wr) END",
        "The same, less the pairs only the alternative gets right.",
    ),
    _measure(
        "effective_superiority",
        "P 9",
        "(br + rw - wr) / (br + rw + wr + bw)",
        "The primary's right pairs less those only the alternative gets right, of all pairs.",
        undefined=(_NO_PAIR,),
    ),
)
