"""`compare`: two clusterings held against the truth pair by pair (the Prayatul matrix)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import polars as pl

from sqlvalid.catalog import COMPARATIVE
from sqlvalid.engines.duckdb import Connection
from sqlvalid.errors import BadArgument, one_of
from sqlvalid.evaluate import integers, refuse_undefined, scores, statistics_of, values_of
from sqlvalid.partitions import NoiseAs, Nulls, Policy, Undefined
from sqlvalid.plan import plan
from sqlvalid.score import opened, reading

_COUNTS = ("br", "rw", "wr", "bw")
_PLAN = plan((), tuple(f"{name}_ordered" for name in _COUNTS))


def compare(
    data: Any,
    labels: str | Iterable[str],
    *,
    truth: str | None = None,
    weight: str | None = None,
    noise: int | float | str | bool | None = None,
    noise_as: NoiseAs | None = None,
    nulls: Nulls = "raise",
    undefined: Undefined = "null",
    con: Connection | None = None,
) -> pl.DataFrame:
    """Compare every ordered pair of label columns against the truth.

    Over all pairs of points, `br` counts those that both clusterings get right
    (together or apart as in the truth), `rw` those only the primary gets right, `wr`
    those only the alternative does, `bw` those both get wrong; the five measures follow
    (Biswas 2023, eq. 1-9). With noise excluded, a comparison leaves out the points that
    are noise in either clustering. The other arguments are those of `score`.

    Examples
    --------
    >>> import polars as pl, sqlvalid as sv
    >>> df = pl.DataFrame({"t": [1, 1, 2, 2], "a": [1, 1, 2, 2], "b": [1, 1, 1, 2]})
    >>> sv.compare(df, ["a", "b"], truth="t").select("primary", "br", "rw", "wr", "bw").rows()
    [('a', 3, 3, 0, 0), ('b', 3, 0, 3, 0)]
    """
    one_of("undefined", undefined, ("null", "raise"))
    policy = Policy.of(nulls, noise, noise_as)
    call = opened(data, labels, truth, weight, con, pairs=True)
    names = call.labels
    if len(names) < 2:
        raise BadArgument(f"compare needs two label columns or more, and {labels!r} gives one")
    counts: dict[tuple[str, str], tuple[int, ...]] = {}
    with reading(call, con) as reader:
        for cells in reader.cells(policy):
            parts, columns = statistics_of(cells, _PLAN)
            for part, *ordered in zip(parts, *columns.values(), strict=True):
                primary, alternative = cells.keys[part]
                br, rw, wr, bw = (int(count) // 2 for count in ordered)
                counts[primary, alternative] = (br, rw, wr, bw)
                counts[alternative, primary] = (br, wr, rw, bw)
    pairs = [(p, a) for p in names for a in names if p != a]
    exact = dict(zip(_COUNTS, zip(*(counts[pair] for pair in pairs), strict=True), strict=True))
    frame = pl.DataFrame(
        {
            "primary": pl.Series([p for p, _ in pairs], dtype=pl.String),
            "alternative": pl.Series([a for _, a in pairs], dtype=pl.String),
        }
        | {name: integers(values) for name, values in exact.items()}
        | scores(*values_of(exact, COMPARATIVE))
    )
    if undefined == "raise":
        refuse_undefined(frame)
    return frame
