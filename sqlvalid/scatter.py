"""Where clusters are and how they lie: `centroids` and `scatter`."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import polars as pl

from sqlvalid.engines.duckdb import Connection
from sqlvalid.errors import BadArgument, listed
from sqlvalid.features import Features
from sqlvalid.kernels.geometry import Clusters, Floats, log_determinant, pooled
from sqlvalid.measure import Measured, Part
from sqlvalid.partitions import NoiseAs, Nulls, Policy
from sqlvalid.score import opened, reading
from sqlvalid.tables import stacked

_OWN = ("partition", "label", "n")


def centroids(
    data: Any,
    labels: str | Iterable[str],
    features: str | Iterable[str],
    *,
    weight: str | None = None,
    standardize: bool = False,
    noise: int | float | str | bool | None = None,
    noise_as: NoiseAs | None = None,
    nulls: Nulls = "raise",
    con: Connection | None = None,
) -> pl.DataFrame:
    """Give the centroid of every cluster: `partition`, `label`, `n`, a column per feature.

    Features of an array column `e` are named e_1, e_2, …; labels are text when the label
    columns differ in type; a noise point that is a cluster of its own has a null label.
    The other arguments are those of `score`.

    Examples
    --------
    >>> import polars as pl, sqlvalid as sv
    >>> df = pl.DataFrame({"x": [0.0, 1.0, 5.0, 6.0], "y": [0, 2, 0, 0], "km": [1, 1, 2, 2]})
    >>> sv.centroids(df, "km", ["x", "y"]).rows()
    [('km', 1, 2, 0.5, 1.0), ('km', 2, 2, 5.5, 0.0)]
    """
    policy = Policy.of(nulls, noise, noise_as)
    found = _measured(
        data, labels, features, weight, policy, con, frozenset({"moments"}), standardize
    )
    names, parts, measured, numbers = found
    taken = [name for name in numbers.names if name in _OWN]
    if taken:
        raise BadArgument(
            f"features: {listed(taken)} is the name of a column of the result; rename the feature"
        )
    frames = {
        name: _centroids(part, clusters, measured, numbers)
        for name, part, clusters in zip(names, parts, measured.clusters, strict=True)
    }
    return stacked(frames, "label")


def _centroids(
    part: Part, clusters: Clusters, measured: Measured, features: Features
) -> pl.DataFrame:
    scale = 1.0 if measured.scale is None else measured.scale
    at = clusters.centroids + np.array([float(s) for s in measured.shift]) / scale
    labels = pl.Series("label", part.labels)
    lone = len(clusters.n) - len(labels)
    labels = labels.extend(pl.Series("label", [None] * lone, dtype=labels.dtype))
    counts = {"label": labels, "n": pl.Series(clusters.n, dtype=pl.Int64)}
    return pl.DataFrame(counts | {name: at[:, j] for j, name in enumerate(features.names)})


def scatter(
    data: Any,
    labels: str | Iterable[str],
    features: str | Iterable[str],
    *,
    weight: str | None = None,
    standardize: bool = False,
    noise: int | float | str | bool | None = None,
    noise_as: NoiseAs | None = None,
    nulls: Nulls = "raise",
    con: Connection | None = None,
) -> pl.DataFrame:
    """Give the scatter matrices of every partition: W within clusters, B between, T in all.

    A row per entry: `partition`, `matrix`, `feature`, `other`, `value`, and beside it the
    `trace`, `determinant` and `log_determinant` of the matrix. A singular matrix has the
    determinant 0 and no logarithm; a determinant that a float cannot hold is null. T = W + B.
    The other arguments are those of `score`.

    Examples
    --------
    >>> import polars as pl, sqlvalid as sv
    >>> df = pl.DataFrame({"x": [0.0, 1.0, 5.0, 6.0], "km": [1, 1, 2, 2]})
    >>> sv.scatter(df, "km", "x").select("matrix", "value", "trace").rows()
    [('W', 1.0, 1.0), ('B', 25.0, 25.0), ('T', 26.0, 26.0)]
    """
    policy = Policy.of(nulls, noise, noise_as)
    sums = frozenset({"moments", "products"})
    found = _measured(data, labels, features, weight, policy, con, sums, standardize)
    names, _, measured, numbers = found
    frames = []
    for name, clusters in zip(names, measured.clusters, strict=True):
        within, between = pooled(clusters)
        free = clusters.total - len(clusters.n)
        for matrix, values, rank in (
            ("W", within, free),
            ("B", between, len(clusters.n) - 1),
            ("T", within + between, clusters.total - 1),
        ):
            frame = _entries(values, rank, numbers)
            of = (pl.lit(name).alias("partition"), pl.lit(matrix).alias("matrix"))
            frames.append(frame.select(*of, pl.all()))
    return pl.concat(frames)


def _entries(matrix: Floats, rank: float, features: Features) -> pl.DataFrame:
    """The entries of a matrix that has at most some rank."""
    p = features.p
    ln = None if rank < p else log_determinant(matrix)
    determinant = 0.0 if ln is None else None
    if ln is not None and abs(ln) < 709:
        determinant = math.exp(ln)
    return pl.DataFrame(
        {
            "feature": pl.Series(features.names).gather(np.repeat(np.arange(p), p)),
            "other": pl.Series(features.names).gather(np.tile(np.arange(p), p)),
            "value": matrix.ravel(),
            "trace": np.full(p * p, np.trace(matrix)),
            "determinant": pl.repeat(determinant, p * p, dtype=pl.Float64, eager=True),
            "log_determinant": pl.repeat(ln, p * p, dtype=pl.Float64, eager=True),
        }
    )


def _measured(
    data: Any, labels: str | Iterable[str], features: str | Iterable[str], weight: str | None,
    policy: Policy, con: Connection | None, sums: frozenset[str], standardize: bool,
) -> tuple[list[str], list[Part], Measured, Features]:  # fmt: skip
    """The clusters of each label column, in the order of the call."""
    call = opened(data, labels, None, weight, con, features, needs_truth=False)
    with reading(call, con, policy.nulls) as reader:
        parts = reader.parts(list(reader.cells(policy)))
        measured = reader.measured(parts, sums, standardize)
        assert reader.features is not None
        by_name = {name: i for i, name in enumerate(reader.order)}
        places = [by_name[name] for name in call.labels]
        measured.clusters = [measured.clusters[i] for i in places]
        return call.labels, [parts[i] for i in places], measured, reader.features
