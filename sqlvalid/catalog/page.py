"""The catalog as a page: `python -m sqlvalid.catalog.page` writes docs/indices.md to its output."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator

from sqlvalid.catalog import CATALOG, Index
from sqlvalid.catalog.names import groups_of

_RULES = {
    "max": "largest is best",
    "min": "smallest is best",
    "zero": "nearest to 0 is best",
    "max_diff": "largest second difference is best",
    "min_diff": "smallest second difference is best",
}

_FAMILIES = {
    "pairs": (
        "Pairs of points",
        "A pair of points is together or apart in the truth, and together or apart in the"
        " labels: `yy`, `yn`, `ny`, `nn` count the pairs, truth first."
        " `pair_determinant` is yy·nn − yn·ny, taken in exact integers.",
    ),
    "matching": (
        "Matching of clusters and classes",
        "`n` is the number of points, `k` of clusters, `k_truth` of classes. `majority_points`"
        " sums each cluster's largest class, `f_total` the clusters' F, `matched_points` the"
        " points on the best one-to-one assignment, `agreeing` the points whose label is their"
        " truth. When two classes share a cluster's majority the smaller one counts.",
    ),
    "entropy": (
        "Entropies",
        "`*_nats` are entropies with natural logarithms; `log_unit` is ln(`log_base`).",
    ),
    "linear": (
        "Points and centroids",
        "From features, in one or two scans. `n` is the number of points, `k` of clusters, `p` of"
        " features; `wgss` and `bgss` are the sums of squares within and between clusters,"
        " `within_distances` and `total_distances` the distances of the points to their centroids"
        " and to the mean, `centroid_min` and `centroid_max` the smallest and largest distance of"
        " two centroids, `ln_det_w` the logarithm of the determinant of the within-cluster scatter"
        " matrix W and `ln_det_ratio` that of det(T)/det(W). The other sums are defined in"
        " [sql/points](../sql/points), one file each. Features are taken as they are unless"
        " `standardize` is given.",
    ),
    "comparative": (
        "Comparison of two clusterings",
        "For a primary and an alternative clustering, `br`, `rw`, `wr`, `bw` count the pairs of"
        " points that both get right, only the primary, only the alternative, and neither.",
    ),
}

_HEAD = """\
# The indices

This page is generated from the catalog (`python -m sqlvalid.catalog.page`).

Sources: **D** Desgraupes, *Clustering Indices* (clusterCrit, 2017); **P** Biswas, *Prayatul
matrix* (2023); **C** Chung, *Clustering accuracy*; **Z** Zaki & Meira, *Data Mining and
Analysis*, chapter 17; **V** Vendramin, Campello & Hruschka (2010). The numbers are their
equations.

Names are case-insensitive; `-`, space and `_` are the same; an unambiguous prefix is enough, and
where one candidate begins all the others it is meant. Where an index is undefined its value is
null and the reason is told. Formulas are SQL over statistics, as they are run.
"""


def page() -> str:
    """The whole page, in Markdown."""
    lines = [_HEAD, "Groups, which are names too:", ""]
    for name, rows in groups_of(CATALOG).items():
        lines.append(f"- `{name}`: {', '.join(f'`{row.name}`' for row in rows)}")
    for family, (title, text) in _FAMILIES.items():
        lines += ["", f"## {title}", "", text, ""]
        for row in CATALOG:
            if row.family == family:
                lines += _entry(row)
    return "\n".join(lines).rstrip() + "\n"


def _entry(row: Index) -> Iterator[str]:
    name = f"{row.name}({row.parameter})" if row.parameter else row.name
    yield f"### {name}"
    yield ""
    yield row.about
    yield ""
    formula = row.formula.replace("{", "").replace("}", "")
    yield f"- formula: `{formula}`"
    yield f"- source: {row.source}"
    if row.aliases:
        yield f"- aliases: {', '.join(f'`{alias}`' for alias in row.aliases)}"
    yield f"- {_RULES[row.rule]}; {_bounds(row)}; {_symmetry(row)}"
    if row.undefined:
        cases = [f"{case.reason} (`{case.when}`)" for case in row.undefined]
        yield f"- undefined when {'; or when '.join(cases)}"
    else:
        yield "- always defined"
    if row.literal:
        yield "- null when truth and labels have types that cannot be compared"
    yield ""


def _bounds(row: Index) -> str:
    low = "−∞" if math.isinf(row.lower) else f"{row.lower:g}"
    high = "∞" if math.isinf(row.upper) else f"{row.upper:g}"
    return f"from {low} to {high}"


def _symmetry(row: Index) -> str:
    if row.swapped == row.name:
        return "symmetric"
    if row.swapped is None:
        return "not symmetric"
    if row.swapped.startswith("-"):
        return "changes sign when the partitions are swapped"
    return f"becomes `{row.swapped}` when the partitions are swapped"


if __name__ == "__main__":
    sys.stdout.write(page())
