"""The tables behind the indices: `contingency`, `pairs` and `match`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from sqlvalid.cells import Cells
from sqlvalid.engines.duckdb import Connection, session
from sqlvalid.evaluate import assignment, contingencies, integers, statistics_of, tables
from sqlvalid.partitions import NoiseAs, Nulls, Policy
from sqlvalid.plan import plan
from sqlvalid.score import opened, reading

_COUNTS = ("yy", "yn", "ny", "nn")
_PLAN = plan((), tuple(f"{name}_ordered" for name in _COUNTS))


def contingency(
    data: Any,
    truth: str,
    label: str,
    *,
    weight: str | None = None,
    noise: int | float | str | bool | None = None,
    noise_as: NoiseAs | None = None,
    nulls: Nulls = "raise",
    con: Connection | None = None,
) -> pl.DataFrame:
    """Count the points of every class and cluster that meet: `truth`, `label`, `n`.

    With `noise_as="singletons"` the noise points of a class are one row with a null
    label: `n` clusters of one point each. The other arguments are those of `score`.

    Examples
    --------
    >>> import polars as pl, sqlvalid as sv
    >>> df = pl.DataFrame({"t": ["a", "a", "b"], "km": [1, 1, 1]})
    >>> sv.contingency(df, "t", "km").rows()
    [('a', 1, 2), ('b', 1, 1)]
    """
    policy = Policy.of(nulls, noise, noise_as)
    cells = _only(data, truth, label, weight, policy, con)
    frame = _frame(_contingency(cells))
    return frame.select("truth", "label", pl.col("n").cast(pl.Int64)).sort("truth", "label")


def pairs(
    data: Any,
    truth: str,
    label: str,
    *,
    weight: str | None = None,
    noise: int | float | str | bool | None = None,
    noise_as: NoiseAs | None = None,
    nulls: Nulls = "raise",
    con: Connection | None = None,
) -> pl.DataFrame:
    """Count pairs of points: `yy` together in both, `yn` in the truth only, `ny`, `nn`.

    Exact at any size: Int64, and Decimal where a count does not fit it. The other
    arguments are those of `score`.

    Examples
    --------
    >>> import polars as pl, sqlvalid as sv
    >>> df = pl.DataFrame({"t": ["a", "a", "b"], "km": [1, 1, 1]})
    >>> sv.pairs(df, "t", "km").rows()
    [(1, 0, 2, 0)]
    """
    policy = Policy.of(nulls, noise, noise_as)
    cells = _only(data, truth, label, weight, policy, con)
    _, columns = statistics_of(cells, _PLAN)
    return pl.DataFrame(
        {name: integers([int(v) // 2 for v in columns[f"{name}_ordered"]]) for name in _COUNTS}
    )


def match(
    data: Any,
    labels: str | Iterable[str],
    *,
    truth: str | None = None,
    weight: str | None = None,
    noise: int | float | str | bool | None = None,
    noise_as: NoiseAs | None = None,
    nulls: Nulls = "raise",
    con: Connection | None = None,
) -> pl.DataFrame:
    """Give the one-to-one assignment of clusters to classes that `max_matching` uses.

    `partition`, `cluster`, `class`, and `n`, the points on which they agree; a cluster
    that is left without a class has a null class and n = 0. Clusters and classes are
    text when the label columns differ in type. The other arguments are those of `score`.

    Examples
    --------
    >>> import polars as pl, sqlvalid as sv
    >>> df = pl.DataFrame({"t": ["a", "a", "b", "b"], "km": [1, 1, 1, 2]})
    >>> sv.match(df, "km", truth="t").rows()
    [('km', 1, 'a', 2), ('km', 2, 'b', 1)]
    """
    policy = Policy.of(nulls, noise, noise_as)
    call = opened(data, labels, truth, weight, con)
    found = {}
    with reading(call, con) as reader:
        for cells in reader.cells(policy):
            table = _contingency(cells)
            parts = range(len(cells.keys))
            for part, arrays in zip(parts, tables(table, parts), strict=True):
                own = _frame(table).filter(pl.col("part") == part)
                found[cells.keys[part][0]] = _matched(own, assignment(arrays))
    return stacked({name: found[name] for name in call.labels}, "cluster")


def _matched(own: pl.DataFrame, chosen: np.ndarray[Any, Any]) -> pl.DataFrame:
    alone = pl.col("label").is_null()
    n = pl.when(alone).then(1).otherwise(pl.col("n")).cast(pl.Int64)
    assigned = own[chosen].select(cluster="label", **{"class": "truth"}, n=n)
    clusters = own.select(cluster="label").drop_nulls().unique()
    left = clusters.join(assigned, on="cluster", how="anti").with_columns(
        pl.lit(None, dtype=assigned.schema["class"]).alias("class"), n=pl.lit(0, pl.Int64)
    )
    return pl.concat([assigned, left]).sort("cluster")


def _only(
    data: Any, truth: str, label: str, weight: str | None, policy: Policy, con: Connection | None
) -> Cells:
    with reading(opened(data, [label], truth, weight, con), con) as reader:
        (cells,) = reader.cells(policy)
        return cells


def stacked(frames: dict[str, pl.DataFrame], of_labels: str) -> pl.DataFrame:
    """The frames of several partitions as one; labels of unlike types become text."""
    found = [f.select(pl.lit(name).alias("partition"), pl.all()) for name, f in frames.items()]
    kinds = {frame.schema[of_labels] for frame in found}
    if len(kinds) > 1 and all(kind.is_integer() and kind != pl.UInt64 for kind in kinds):
        return pl.concat(found, how="vertical_relaxed")
    if len(kinds) > 1:
        found = [frame.with_columns(pl.col(of_labels).cast(pl.String)) for frame in found]
    return pl.concat(found)


def _contingency(cells: Cells) -> pa.Table:
    with session({"fetched": cells.table}, cells.table.num_rows) as con:
        return contingencies(con, cells)


def _frame(table: pa.Table) -> pl.DataFrame:
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame
