"""Sums over points in SQL, where they lie: one aggregation for each partition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sqlvalid.compile import points as statements
from sqlvalid.errors import BadData
from sqlvalid.features import refuse_faults
from sqlvalid.kernels.points import Floats, Target
from sqlvalid.measure.batches import CHANGED, Points


def moments(points: Points) -> list[dict[str, Any]]:
    """The moments of every part by one aggregation each, and those of all points."""
    found = []
    for part, code in zip(points.parts, points.coders, strict=True):
        query = statements.moments(
            points.scan.table, points.features.expressions(), part.label, points.weight,
            points.where,
        )  # fmt: skip
        table = points.engine.fetch(query).combine_chunks()
        codes = code(_whole(table["label"]))
        p, k = points.features.p, len(part.n)
        if not table["rows"].equals(table["present"]):
            refuse_faults(points.engine, points.scan, points.features, points.where)
        found.append(
            (codes, _columns(table, "n"), _columns(table, "s", p), _columns(table, "q", p), k)
        )
    parts = []
    for codes, n, sums, squares, k in found:
        order = np.argsort(codes, kind="stable")
        kept = order[codes[order] < k]
        parts.append({"n": n[kept, 0], "sums": sums[kept], "squares": squares[kept]})
    _, n, sums, squares, _ = found[0]
    return [*parts, {"n": n.sum(), "sums": sums.sum(axis=0), "squares": squares.sum(axis=0)}]


def _whole(values: pa.ChunkedArray) -> pa.Array:
    return values.chunk(0) if values.num_chunks == 1 else pa.concat_arrays(values.chunks)


def _columns(table: pa.Table, prefix: str, p: int = 0) -> Floats:
    names = [prefix] if p == 0 else [f"{prefix}{i}" for i in range(p)]
    arrays = [table[name].to_numpy().astype(np.float64) for name in names]
    return np.stack(arrays, axis=1) if arrays else np.empty((table.num_rows, 0))


def around(
    points: Points, targets: Sequence[Target | None], scale: Floats | None
) -> list[dict[str, Any]]:
    """Sums about the centroids of every part that has a target."""
    found: list[dict[str, Any]] = []
    for part, target in zip(points.parts, targets, strict=True):
        if target is None:
            found.append({})
            continue
        k, p = target.centroids.shape
        columns = {f"c{i}": target.centroids[:, i] for i in range(p)}
        clusters = points.engine.register(
            pa.table({"label": part.labels, "code": np.arange(k), **columns})
        )
        query = statements.about(
            points.scan.table, clusters, points.features.expressions(scale=scale), part.label,
            target.mean.tolist(), points.weight, points.where, target.wanted,
        )  # fmt: skip
        table = points.engine.fetch(query).sort_by("code").combine_chunks()
        if table.num_rows != k:
            raise BadData(CHANGED)
        found.append(_read_around(table, p, target.wanted))
    return found


def _read_around(table: pa.Table, p: int, wanted: frozenset[str]) -> dict[str, Any]:
    sums: dict[str, Any] = {}
    if "s0" in table.column_names:
        sums["sums"] = _columns(table, "s", p)
    if "refine" in wanted:
        sums["squares"] = _columns(table, "q", p)
    if "distances" in wanted:
        sums["distances"] = _columns(table, "d")[:, 0]
    if "mean_distances" in wanted:
        sums["total_distances"] = _columns(table, "e").sum()
    if "products" in wanted or "cluster_products" in wanted:
        scatters = np.empty((table.num_rows, p, p))
        for i in range(p):
            for j in range(i + 1):
                scatters[:, i, j] = scatters[:, j, i] = _columns(table, f"w{i}_{j}")[:, 0]
        sums |= (
            {"scatters": scatters}
            if "cluster_products" in wanted
            else {"scatter": scatters.sum(axis=0)}
        )
    return sums
