"""Statistics: what each SELECT of `sql/statistics` provides and reads, and the kernels beside them.

A statistic has one row per partition (`part`), or it is a table that other
statistics read. The roots, which no file defines, are `contingency` (part, truth,
label, n) and `triples` (part, truth, label, other, n), which the compiler writes from
the data at hand, and the sums over points, which are measured where the points are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import sqlglot
from sqlglot import exp

from sqlvalid.errors import SqlvalidError

CELL_ROOTS = ("contingency", "triples")
# Sums over the points of each cluster: of the features and their squares; of distances to the
# centroids and to the mean; of products of features, pooled and by cluster; over points and the
# nearest other centroid, the nearest other mean square, the balls about centroids and midpoints.
POINT_ROOTS = (
    "moments", "distances", "mean_distances", "products", "cluster_products",
    "nearest", "mean_squares", "balls",
)  # fmt: skip
ROOTS = (*CELL_ROOTS, *POINT_ROOTS)


@dataclass(frozen=True, slots=True)
class Statistic:
    """One SELECT, or one kernel: the columns it provides and the statistics it reads."""

    name: str
    about: str
    provides: tuple[str, ...]
    reads: tuple[str, ...]
    query: exp.Select | None = None

    @property
    def is_table(self) -> bool:
        """Whether it has several rows per part, for other statistics to read."""
        return not {"truth", "label", "size"}.isdisjoint(self.provides)

    @property
    def is_kernel(self) -> bool:
        """Whether numpy computes it, and not SQL."""
        return self.query is None

    @property
    def of_points(self) -> bool:
        """Whether it is found from sums over points, and not from contingency cells."""
        return not set(POINT_ROOTS).isdisjoint(self.reads)


def _of_points(name: str, about: str, provides: str, reads: str) -> Statistic:
    return Statistic(name, about, tuple(provides.split()), tuple(reads.split()))


KERNELS = (
    Statistic(
        "matching",
        "the points on the best one-to-one assignment of clusters to classes",
        ("matched_points",),
        ("contingency",),
    ),
    Statistic(
        "chance",
        "the mutual information expected of two random partitions with these sizes",
        ("expected_mi_nats",),
        ("contingency",),
    ),
    Statistic(
        "tail",
        "the upper tail of McNemar's chi-squared",
        ("chi2_tail",),
        ("pair_counts",),
    ),
    Statistic(
        "alpha",
        "sd_dis of the partition with most clusters in the call",
        ("sd_alpha",),
        ("separation", "clusters"),
    ),
    _of_points(
        "dispersion",
        "sums of squares within and between clusters",
        "p wgss bgss mean_dispersions dispersion_logs flat_clusters",
        "moments",
    ),
    _of_points(
        "shares",
        "the share of each feature's sum of squares that lies between clusters",
        "shares root_shares constant_features",
        "moments",
    ),
    _of_points(
        "variances",
        "norms of the variances of the clusters and of all points",
        "variance_norms variance_norm",
        "moments",
    ),
    _of_points(
        "separation",
        "distances between centroids",
        "centroid_max centroid_min inverse_separations pair_ss similarities_rms",
        "moments",
    ),
    _of_points(
        "spread",
        "distances of the points to their centroids",
        "within_distances similarities",
        "moments distances",
    ),
    _of_points(
        "reach",
        "distances of the points to the mean",
        "total_distances",
        "moments mean_distances",
    ),
    _of_points(
        "determinants",
        "determinants of the scatter matrices, by a factorisation",
        "w_singular ln_det_w ln_det_ratio wib",
        "moments products",
    ),
    _of_points(
        "cluster_determinants",
        "determinants of the clusters' covariance matrices, by a factorisation",
        "cluster_ln_dets singular_clusters",
        "moments cluster_products",
    ),
    _of_points(
        "neighbours",
        "points between their own and the nearest other centroid",
        "gancarski simplified alternative on_other_centroid on_both_centroids",
        "moments nearest",
    ),
    _of_points(
        "squared",
        "silhouettes with squared distances",
        "squared_silhouettes same_places",
        "moments mean_squares",
    ),
    _of_points(
        "densities",
        "densities about centroids and midway between them",
        "densities empty_balls",
        "moments balls",
    ),
)


def folder() -> Traversable:
    """The SQL files: inside the installed package, or beside it in a source tree."""
    inside = files("sqlvalid") / "sql"
    if inside.is_dir():
        return inside
    return Path(__file__).resolve().parent.parent / "sql"


@cache
def load() -> dict[str, Statistic]:
    """Read every statistic: those of `sql/statistics/*.sql` and the kernels.

    >>> load()["pair_counts"].reads
    ('ordered_pairs', 'sample')
    """
    return {kernel.name: kernel for kernel in KERNELS} | _read("statistics")


@cache
def of_points() -> dict[str, Statistic]:
    """The statistics of points in SQL, for engines without kernels: `sql/points/*.sql`.

    `x`, `c`, `m`, `q`, `t` and `b` stand there for a column per feature: EACH(...) is an
    expression for each of them, TOTAL(...) its sum over all.

    >>> of_points()["means"].reads
    ('centroids',)
    """
    return _read("points")


def _read(inside: str) -> dict[str, Statistic]:
    found = {}
    for file in (folder() / inside).iterdir():
        if file.name.endswith(".sql"):
            statistic = parse(file.name.removesuffix(".sql"), file.read_text(encoding="utf-8"))
            found[statistic.name] = statistic
    return found


def parse(name: str, text: str) -> Statistic:
    """Read a statistic off its SQL text; the definition is the comment at its head."""
    query = sqlglot.parse_one(text, read="duckdb")
    if not isinstance(query, exp.Select):
        raise SqlvalidError(f"{name}.sql is not one SELECT")
    comments = [line[2:].strip() for line in text.splitlines() if line.startswith("--")]
    about = " ".join(comments).removeprefix(f"{name}: ")
    for node in query.walk():
        node.comments = None
    provides = tuple(c for c in query.named_selects if c != "part")
    reads = dict.fromkeys(table.name for table in query.find_all(exp.Table))
    return Statistic(name, about, provides, tuple(reads), query)


@cache
def providers() -> dict[str, Statistic]:
    """Map each column that a formula may name to the one statistic that provides it.

    >>> providers()["yy"].name
    'pair_counts'
    """
    found: dict[str, Statistic] = {}
    for statistic in load().values():
        if statistic.is_table:
            continue
        for column in statistic.provides:
            if column in found:
                both = f"{found[column].name} and {statistic.name}"
                raise SqlvalidError(f"column {column!r} is provided by {both}")
            found[column] = statistic
    return found
