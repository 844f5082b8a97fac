"""What must hold for every internal index on any points, over the whole catalog.

Each example scores all indices in one call; the loops over the catalog are inside.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import brute_internal
import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import sqlvalid as sv
from sqlvalid.catalog import CATALOG
from sqlvalid.errors import BadData

# The same examples on every run and machine; a deadline would time the machine.
few = settings(deadline=None, derandomize=True, database=None, max_examples=12)
# A way holds for all examples of a test, so that one fixture for all of them is what is meant.
each_way = settings(
    few, max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

INDICES = [index for index in CATALOG if index.needs == "features"]
NAMES = [index.name for index in INDICES]

# brute_internal.py is exact but for roots and logarithms; the package is allowed what careful
# double arithmetic needs. 1e-11 is for sums of some sixty logarithms that come out near 0.
RELATIVE, ABSOLUTE = 1e-9, 1e-11

Matrix = np.ndarray[Any, np.dtype[np.float64]]
Row = dict[str, Any]


@dataclass(frozen=True)
class Points:
    """Points with a label each."""

    x: Matrix
    labels: list[Any]

    def frame(self, **more: Any) -> pl.DataFrame:
        columns = {f"x{j}": self.x[:, j] for j in range(self.x.shape[1])}
        return pl.DataFrame(columns | {"found": self.labels} | more, strict=False)


def score(points: Points, frame: pl.DataFrame | None = None, **options: Any) -> Row:
    """The row of all internal indices of the column `found`."""
    given = points.frame() if frame is None else frame
    scored = sv.score(given, "found", features="x*", indices=NAMES, **options)
    return scored.row(0, named=True)


def agree(
    value: float | None, expected: float | None, rel: float = RELATIVE, tiny: float = ABSOLUTE
) -> bool:
    if value is None or expected is None:
        return value is expected
    return math.isclose(value, expected, rel_tol=rel, abs_tol=tiny)


def differing(
    row: Mapping[str, Any], expected: Mapping[str, Any], names: list[str] = NAMES, **close: float
) -> Row:
    """The values that are not as expected; a null is only as a null is."""
    return {
        name: (row[name], expected[name])
        for name in names
        if not agree(row[name], expected[name], **close)
    }


def defined(points: Points, weights: list[int] | None = None) -> dict[str, float | None]:
    return brute_internal.scores(points.x, points.labels, weights)


def decided(points: Points) -> list[str]:
    """The indices that rounding cannot change: s_dbw counts points within a sphere."""
    clusters = brute_internal.clusters_of(points.x, points.labels)
    on_a_sphere = clusters.k > 1 and brute_internal.a_point_is_on_a_sphere(clusters)
    return [name for name in NAMES if name != "s_dbw" or not on_a_sphere]


def blobs(seed: int, k: int, p: int) -> Points:
    """Some clusters of more points than features, in no order, in multiples of 2^-10."""
    draw = np.random.default_rng(seed)
    sizes = draw.integers(p + 2, p + 10, k)
    centres = draw.uniform(-8, 8, (k, p))
    labels = np.repeat(np.arange(k), sizes)
    spread = draw.uniform(0.3, 3, (k, p))
    x = centres[labels] + spread[labels] * draw.normal(size=(len(labels), p))
    order = draw.permutation(len(labels))
    return Points(np.round(x * 1024)[order] / 1024, labels[order].tolist())


seeds = st.integers(0, 2**32 - 1)
generic = st.builds(blobs, seeds, st.integers(2, 5), st.integers(1, 4))


@st.composite
def grids(draw: st.DrawFn) -> Points:
    """A few points with small whole coordinates: equal points, equal centroids, flat clusters."""
    n, p = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    cells = st.lists(st.integers(0, draw(st.integers(0, 3))), min_size=n * p, max_size=n * p)
    x = np.array(draw(cells), dtype=float).reshape(n, p)
    k = draw(st.integers(1, 4))
    return Points(x, draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n)))


# Definitions


@each_way
@given(generic)
def test_values_are_those_of_the_definitions(way: str, points: Points) -> None:
    row = score(points)

    assert differing(row, defined(points), decided(points)) == {}
    assert (row["n"], row["k"]) == (len(points.labels), len(set(points.labels)))


@settings(each_way, max_examples=60)
@given(grids())
def test_values_and_nulls_of_points_on_a_grid(way: str, points: Points) -> None:
    expected = defined(points)

    row = score(points)

    assert differing(row, expected, decided(points)) == {}
    undefined = {name for name in NAMES if row[name] is None}
    assert {reason.split(": ")[0] for reason in row["undefined"]} == undefined


@each_way
@given(seeds, st.integers(1, 3))
def test_tight_clusters_far_apart(way: str, seed: int, p: int) -> None:
    """A spread of 1e-6 about centroids at distances of about 1: sums of squares of 1e-12."""
    draw = np.random.default_rng(seed)
    labels = np.repeat(np.arange(4), 8)
    x = draw.uniform(-2, 2, (4, p))[labels] + 1e-6 * draw.normal(size=(32, p))
    points = Points(x, labels.tolist())

    assert differing(score(points), defined(points), decided(points), tiny=0.0) == {}


@each_way
@given(generic)
def test_an_offset_of_1e8_costs_no_digits(way: str, points: Points) -> None:
    """The points are the doubles that are left of them, far from 0 and not dyadic."""
    far = replace(points, x=points.x / 3 + 1e8 * np.arange(1, points.x.shape[1] + 1))

    assert differing(score(far), defined(far), decided(far)) == {}


@few
@given(generic | grids())
def test_values_keep_within_their_bounds(points: Points) -> None:
    row = score(points)

    for index in INDICES:
        value = row[index.name]
        assert value is None or math.isfinite(value), index.name
        # A rounding of 1e-12 beyond, for an index whose bound is reached.
        low, high = index.lower - 1e-12, index.upper + 1e-12
        assert value is None or low <= value <= high, index.name


@pytest.mark.parametrize("p", [1, 3])
def test_one_cluster_has_no_internal_value(p: int, way: str) -> None:
    points = replace(blobs(1, 2, p), labels=["all"] * len(blobs(1, 2, p).labels))

    row = score(points)

    assert [name for name in NAMES if row[name] is not None] == []
    assert len(row["undefined"]) == len(NAMES)


def test_clusters_of_one_point_each(way: str) -> None:
    points = replace(blobs(2, 3, 2), labels=list(range(len(blobs(2, 3, 2).labels))))

    assert differing(score(points), defined(points), decided(points)) == {}


def test_an_index_alone_is_as_among_all(way: str) -> None:
    """What is asked for decides what is added up, and how."""
    points = blobs(7, 4, 3)
    among_all = score(points)

    alone = {
        name: sv.score(points.frame(), "found", features="x*", indices=name)[name].item()
        for name in NAMES
    }

    assert differing(alone, among_all) == {}


# Means of points and ratios of sums, which any number of copies of all points leaves as it is.
OF_SHARES = [
    "ball_hall",
    "ball_hall_distance",
    "davies_bouldin",
    "davies_bouldin_rms",
    "det_ratio",
    "log_ss_ratio",
    "log10_ss_ratio",
    "pbm",
    "ratkowsky_lance",
    "c_over_sqrt_k",
    "ray_turi",
    "sd_scat",
    "sd_dis",
    "sd",
    "s_dbw",
    "trace_wib",
    "wemmert_gancarski",
    "silhouette_simplified",
    "silhouette_alternative_simplified",
]


def test_many_rows(way: str) -> None:
    """A hundred thousand rows, 2000 of each point, in no order, and once as weights."""
    points, times = blobs(11, 4, 3), 2000
    frame = points.frame()
    many = pl.concat([frame] * times).sample(fraction=1.0, shuffle=True, seed=1)

    row = score(points, many)

    assert row["n"] == times * len(frame)
    assert differing(row, defined(points), OF_SHARES) == {}
    weighted = score(points, frame.with_columns(times=pl.lit(times)), weight="times")
    assert differing(row, weighted) == {}


# What does not matter


@few
@given(generic, seeds)
def test_order_of_rows_does_not_matter(points: Points, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(points.labels))
    shuffled = Points(points.x[order], [points.labels[i] for i in order])

    assert differing(score(shuffled), score(points), decided(points)) == {}


RENAMED: dict[str, Callable[[int], Any]] = {
    "in another order": lambda label: (label * 3 + 1) % 5,
    "strings": lambda label: "edcba"[label] * (label + 1),
    "negative and far apart": lambda label: -((label * 7919) ** 3) - 1,
    "floats": lambda label: label / 3 - 1,
}


@few
@given(generic, st.sampled_from(sorted(RENAMED)))
def test_names_of_clusters_do_not_matter(points: Points, how: str) -> None:
    renamed = replace(points, labels=[RENAMED[how](label) for label in points.labels])

    assert differing(score(renamed), score(points), decided(points)) == {}


@few
@given(generic, seeds)
def test_order_of_features_does_not_matter(points: Points, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(points.x.shape[1])

    assert differing(score(replace(points, x=points.x[:, order])), score(points)) == {}


@few
@given(generic)
def test_features_are_columns_or_one_column_of_arrays(points: Points) -> None:
    p = points.x.shape[1]
    arrays = pl.Series("x", points.x.tolist(), dtype=pl.Array(pl.Float64, p))
    frame = pl.DataFrame({"found": points.labels, "x": arrays})
    expected = score(points)

    assert differing(score(points, frame), expected) == {}
    lists = frame.with_columns(pl.col("x").arr.to_list())
    assert differing(score(points, lists), expected) == {}


@few
@given(generic)
def test_types_of_features_that_hold_the_values_do_not_matter(points: Points) -> None:
    """2^-10 steps below 32 fit single precision; times 1024 they are integers."""
    frame, whole = points.frame(), replace(points, x=points.x * 1024)
    single = frame.with_columns(pl.col("^x.*$").cast(pl.Float32))
    integers = whole.frame().with_columns(pl.col("^x.*$").cast(pl.Int32))

    assert differing(score(points, single), score(points)) == {}
    assert differing(score(whole, integers), score(whole)) == {}


@few
@given(generic)
def test_truth_changes_no_internal_value(points: Points) -> None:
    truth = [label // 2 for label in points.labels]

    with_truth = score(points, points.frame(truth=truth), truth="truth")

    assert differing(with_truth, score(points), rel=1e-12) == {}


# Movements and changes of scale


@few
@given(generic, st.sampled_from([1e8, -1e8]))
def test_translation_changes_nothing(points: Points, offset: float) -> None:
    moved = replace(points, x=points.x + offset)
    assert np.array_equal(moved.x - offset, points.x), "the translation is exact"

    assert differing(score(moved), score(points), decided(points)) == {}


# Their formulas look at one feature at a time: the shares of each feature's sum of squares, and
# the length of the vector of the features' variances.
ALONG_AXES = {"ratkowsky_lance", "c_over_sqrt_k", "sd_scat", "sd", "s_dbw"}


@few
@given(generic, seeds)
def test_rotation_changes_nothing(points: Points, seed: int) -> None:
    p = points.x.shape[1]
    rotation, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(p, p)))
    turned = replace(points, x=points.x @ rotation)
    invariant = [name for name in NAMES if name not in ALONG_AXES]

    assert differing(score(turned), score(points), invariant) == {}


# What becomes of a value when all features are multiplied by s, given n points and p features.
Law = Callable[[float, float, int, int], float | None]


def same(value: float, s: float, n: int, p: int) -> float:
    return value


def power(exponent: int) -> Law:
    return lambda value, s, n, p: value * s**exponent


SCALED: dict[str, Law | None] = {
    "ball_hall": power(2),
    "ball_hall_distance": power(1),
    "banfeld_raftery": lambda value, s, n, p: value + 2 * n * math.log(s),
    "calinski_harabasz": same,
    "davies_bouldin": same,
    "davies_bouldin_rms": same,
    "det_ratio": same,
    "log_det_ratio": same,
    "log10_det_ratio": same,
    "ksq_detw": lambda value, s, n, p: value * s ** (2 * p),
    "log_ss_ratio": same,
    "log10_ss_ratio": same,
    "pbm": power(2),
    "ratkowsky_lance": same,
    "c_over_sqrt_k": same,
    "ray_turi": same,
    "scott_symons": lambda value, s, n, p: value + 2 * p * n * math.log(s),
    "sd_scat": same,
    "sd_dis": power(-1),
    "sd": power(-1),  # α is a separation
    "s_dbw": same,
    "trace_w": power(2),
    "trace_cov_w": power(2),
    "trace_wib": same,
    "wemmert_gancarski": same,
    "silhouette_simplified": same,
    "silhouette_alternative_simplified": None,  # 1e-6 is added to a distance
    "silhouette_squared": same,
}


def follows(law: Law | None, row: Row, name: str, s: float, p: int) -> float | None:
    value = row[name]
    return None if law is None or value is None else law(value, s, row["n"], p)


def test_every_index_has_a_law() -> None:
    assert set(NAMES) - set(SCALED) == set()
    assert set(NAMES) - set(TWICE) == set()


@few
@given(generic, st.sampled_from([2.0**-10, 0.1, 3.0, 1e4]))
def test_scaling_follows_its_law(points: Points, s: float) -> None:
    p, row = points.x.shape[1], score(points)
    lawful = [name for name in decided(points) if SCALED[name] is not None]

    scaled = score(replace(points, x=points.x * s))

    expected = {name: follows(SCALED[name], row, name, s, p) for name in lawful}
    assert differing(scaled, expected, lawful) == {}


# What becomes of a value when every feature is there twice, which makes all distances √2 = s times
# as long. None where scatter matrices become singular or the formula has no law; the definitions
# on the points with twice the features then say what is to come.
TWICE: dict[str, Law | None] = SCALED | {
    "banfeld_raftery": lambda value, s, n, p: value + n * math.log(2),
    "det_ratio": None,
    "log_det_ratio": None,
    "log10_det_ratio": None,
    "ksq_detw": None,
    "scott_symons": None,
    "trace_wib": None,
    "s_dbw": None,  # the radius is a root of the length of a vector, not a distance
}


# The scatter of all points against that within clusters, and the shares of sums of squares, are
# the same whatever units the features are in.
WITHOUT_UNITS = [
    "det_ratio",
    "log_det_ratio",
    "log10_det_ratio",
    "trace_wib",
    "ratkowsky_lance",
    "c_over_sqrt_k",
]


@each_way
@given(st.builds(blobs, seeds, st.integers(2, 4), st.just(3)), st.sampled_from([20, 24, 28]))
def test_units_of_features_may_be_far_apart(way: str, points: Points, binary: int) -> None:
    """Nanoseconds since 1970 beside a share: neither may drown the other."""
    units = replace(points, x=points.x * [2.0**-binary, 1.0, 2.0**binary])

    row = score(units)

    assert differing(row, score(points), WITHOUT_UNITS) == {}
    assert differing(row, defined(units), decided(units)) == {}


@each_way
@given(seeds, st.sampled_from([1e-7, 1e-8]))
def test_determinants_where_clusters_are_next_to_nothing(
    way: str, seed: int, spread: float
) -> None:
    """All points are at two places but for the spread, so that rounding makes T singular.

    The ratio of its determinant to that of W is still well determined: it is the product of
    1 + λ over the squared singular values λ of the inverse of W's root times B's.
    """
    draw = np.random.default_rng(seed)
    labels = np.repeat(np.arange(2), 12)
    x = draw.uniform(-2, 2, (2, 3))[labels] + spread * draw.normal(size=(24, 3))
    points = Points(x, labels.tolist())

    # The points keep some eight digits of their spread, centroids and deviations no more.
    assert differing(score(points), defined(points), WITHOUT_UNITS[:4], rel=1e-6) == {}


@few
@given(generic)
def test_every_feature_twice(points: Points) -> None:
    p, row = points.x.shape[1], score(points)
    twice = replace(points, x=np.hstack([points.x, points.x]))
    names, by_definition = decided(twice), defined(twice)

    doubled = score(twice)

    expected = {
        name: follows(law, row, name, math.sqrt(2), p) if law else by_definition[name]
        for name in names
        for law in [TWICE[name]]
    }
    assert differing(doubled, expected, names) == {}


# A constant feature makes scatter matrices singular, and its own share of 0 is 0/0.
CHANGED_BY_A_CONSTANT = {
    "det_ratio",
    "log_det_ratio",
    "log10_det_ratio",
    "ksq_detw",
    "scott_symons",
    "trace_wib",
    "ratkowsky_lance",
    "c_over_sqrt_k",
}


@few
@given(generic, st.sampled_from([0.0, 0.1, 1e8 / 3]))
def test_a_constant_feature_spoils_determinants_and_nothing_else(
    points: Points, constant: float
) -> None:
    n, row = len(points.labels), score(points)
    more = replace(points, x=np.hstack([points.x, np.full((n, 1), constant)]))
    by_definition, names = defined(more), decided(points)

    scored = score(more)

    expected = {
        name: by_definition[name] if name in CHANGED_BY_A_CONSTANT else row[name] for name in names
    }
    assert differing(scored, expected, names) == {}


# Options


def on_scales(points: Points, seed: int, constant: bool) -> Points:
    """The features in units of their own, one of them perhaps without any spread."""
    scales = 10.0 ** np.random.default_rng(seed).integers(-3, 4, points.x.shape[1])
    x = points.x * scales + 5
    if constant:
        x = np.hstack([x, np.full((len(x), 1), 0.7)])
    return replace(points, x=x)


def standardized(x: Matrix) -> Matrix:
    """Every feature over its population standard deviation, if it has any spread."""
    spread = np.array([0.0 if len(set(column)) == 1 else column.std() for column in x.T])
    return x / np.where(spread > 0, spread, 1.0)


@few
@given(generic, seeds, st.booleans())
def test_standardize_is_data_standardised_before(points: Points, seed: int, flat: bool) -> None:
    given_points = on_scales(points, seed, flat)
    before = replace(given_points, x=standardized(given_points.x))

    row = score(given_points, standardize=True)

    assert differing(row, score(before), decided(before)) == {}


@each_way
@given(generic, seeds, st.booleans())
def test_a_weight_is_so_many_rows(way: str, points: Points, seed: int, standardize: bool) -> None:
    weights = np.random.default_rng(seed).integers(0, 4, len(points.labels))
    repeated = Points(
        np.repeat(points.x, weights, axis=0), np.repeat(points.labels, weights).tolist()
    )
    assume(repeated.labels)
    names = decided(repeated)

    weighted = score(points, points.frame(times=weights), weight="times", standardize=standardize)

    assert differing(weighted, score(repeated, standardize=standardize), names) == {}
    assert (weighted["n"], weighted["k"]) == (weights.sum(), len(set(repeated.labels)))
    if not standardize:
        assert differing(weighted, defined(points, weights.tolist()), names) == {}


def marked(points: Points, seed: int) -> tuple[Points, list[bool]]:
    """Some of the points as noise, label -1, but never a whole cluster."""
    is_noise = (np.random.default_rng(seed).random(len(points.labels)) < 0.2).tolist()
    labels = [-1 if noise else label for noise, label in zip(is_noise, points.labels, strict=True)]
    assume(any(is_noise) and set(labels) >= set(points.labels))
    return replace(points, labels=labels), is_noise


@each_way
@given(generic, seeds)
def test_noise(way: str, points: Points, seed: int) -> None:
    noisy, is_noise = marked(points, seed)
    clean = [i for i, noise in enumerate(is_noise) if not noise]
    filtered = Points(points.x[clean], [points.labels[i] for i in clean])
    alone = [-1 - i if label == -1 else label for i, label in enumerate(noisy.labels)]
    singletons = replace(points, labels=alone)

    excluded = score(noisy, noise=-1, noise_as="exclude")
    assert differing(excluded, score(filtered), decided(filtered)) == {}
    by_default = score(noisy, noise=-1)
    assert differing(by_default, excluded, decided(filtered)) == {}
    as_singletons = score(noisy, noise=-1, noise_as="singletons")
    assert differing(as_singletons, score(singletons), decided(singletons)) == {}
    assert as_singletons["k"] == len(set(alone))
    as_cluster = score(noisy, noise=-1, noise_as="cluster")
    assert differing(as_cluster, score(noisy), decided(noisy)) == {}


@pytest.mark.parametrize("nothing", [None, math.nan, math.inf])
@pytest.mark.parametrize("column", ["x0", "x1"])
def test_a_missing_value_is_an_error_or_a_row_left_out(nothing: float | None, column: str) -> None:
    points, missing = blobs(3, 3, 2), [4, 11]
    frame = points.frame().with_row_index("row")
    holed = frame.with_columns(
        pl.when(pl.col("row").is_in(missing)).then(pl.lit(nothing)).otherwise(column).alias(column)
    )
    kept = frame.filter(~pl.col("row").is_in(missing))

    with pytest.raises(BadData, match=f"'{column}'"):
        score(points, holed)
    assert differing(score(points, holed, nulls="drop"), score(points, kept)) == {}


# Several partitions in one call


def partitions_of(points: Points) -> dict[str, list[Any]]:
    """The clusters, two of them merged, and all of them split."""
    coarse = ["one" if label < 2 else "more" for label in points.labels]
    halves = [2 * label + (x > 0) for label, x in zip(points.labels, points.x[:, 0], strict=True)]
    return {"found": points.labels, "merged": coarse, "split": [int(h) for h in halves]}


@each_way
@given(st.builds(blobs, seeds, st.integers(3, 5), st.integers(1, 3)))
def test_one_call_for_several_partitions(way: str, points: Points) -> None:
    columns = partitions_of(points)
    frame, most = points.frame(**columns), max(columns, key=lambda c: len(set(columns[c])))
    alone = {name: score(replace(points, labels=labels)) for name, labels in columns.items()}
    alpha = alone[most]["sd_dis"]

    rows = sv.score(frame, list(columns), features="x*", indices=NAMES).to_dicts()

    assert [row["partition"] for row in rows] == list(columns)
    for row in rows:
        one = alone[row["partition"]]
        names = decided(replace(points, labels=columns[row["partition"]]))
        assert differing(row, one, [name for name in names if name != "sd"]) == {}
        parts = (alpha, one["sd_scat"], one["sd_dis"])
        expected = None if None in parts else alpha * one["sd_scat"] + one["sd_dis"]
        assert agree(row["sd"], expected)
        assert row["sd_alpha_of"] == most


def test_alpha_of_sd_is_that_of_the_first_of_the_finest_partitions() -> None:
    points = blobs(5, 3, 2)
    other = points.labels[1:] + points.labels[:1]
    coarse = [min(label, 1) for label in points.labels]
    frame = points.frame(other=other, coarse=coarse)

    rows = sv.score(frame, ["coarse", "other", "found"], features="x*", indices="sd").to_dicts()

    alpha = brute_internal.INTERNAL["sd_dis"](points.x, other)
    for row, labels in zip(rows, (coarse, other, points.labels), strict=True):
        assert list(row) == ["partition", "n", "k", "sd", "sd_alpha_of", "undefined"]
        assert row["sd_alpha_of"] == "other"
        expected = brute_internal.INTERNAL["sd"](points.x, labels, alpha=alpha)
        assert row["sd"] == pytest.approx(expected, rel=RELATIVE)


@few
@given(st.builds(blobs, seeds, st.integers(3, 5), st.integers(1, 3)))
def test_runs_score_as_columns_do(points: Points) -> None:
    columns = {name: [str(v) for v in values] for name, values in partitions_of(points).items()}
    frame = points.frame(**columns).with_row_index("point")
    runs = frame.unpivot(
        list(columns), index="point", variable_name="run", value_name="label"
    ).sample(fraction=1.0, shuffle=True, seed=len(points.labels))
    table = frame.drop(list(columns)).reverse()

    by_run = sv.score_runs(runs, points=table, features="x*", indices=NAMES)
    by_column = sv.score(frame, list(columns), features="x*", indices=NAMES)

    assert by_run["partition"].to_list() == list(columns)
    for run, column in zip(by_run.to_dicts(), by_column.to_dicts(), strict=True):
        names = decided(replace(points, labels=columns[run["partition"]]))
        assert differing(run, column, names) == {}


# Centroids and scatter matrices


def grouped(points: Points) -> dict[Any, Matrix]:
    labels = np.array(points.labels)
    return {label: points.x[labels == label] for label in sorted(set(points.labels))}


@few
@given(generic, st.booleans())
def test_centroids_are_means_of_groups(points: Points, standardize: bool) -> None:
    x = standardized(points.x) if standardize else points.x
    groups = grouped(replace(points, x=x))
    columns = [f"x{j}" for j in range(x.shape[1])]

    found = sv.centroids(points.frame(), "found", "x*", standardize=standardize).sort("label")

    assert found.columns == ["partition", "label", "n", *columns]
    assert found["label"].to_list() == list(groups)
    assert found["n"].to_list() == [len(group) for group in groups.values()]
    expected = np.array([group.mean(axis=0) for group in groups.values()])
    # A mean near 0 is as exact as the points it is of.
    np.testing.assert_allclose(found.select(columns).to_numpy(), expected, rtol=1e-12, atol=1e-12)


def matrices(points: Points) -> dict[str, Matrix]:
    groups = list(grouped(points).values())
    centre = points.x.mean(axis=0)
    each = [group - group.mean(axis=0) for group in groups]
    means = [group.mean(axis=0) - centre for group in groups]
    return {
        "W": sum(group.T @ group for group in each),
        "B": sum(len(g) * np.outer(m, m) for g, m in zip(groups, means, strict=True)),
        "T": (points.x - centre).T @ (points.x - centre),
    }


@few
@given(generic, st.booleans())
def test_scatter_matrices(points: Points, standardize: bool) -> None:
    given_points = replace(points, x=standardized(points.x)) if standardize else points
    expected, p = matrices(given_points), points.x.shape[1]

    found = sv.scatter(points.frame(), "found", "x*", standardize=standardize)

    assert set(found["matrix"]) == {"W", "B", "T"}
    got: dict[str, Matrix] = {}
    for (name,), rows in found.group_by("matrix"):
        cells = {(row["feature"], row["other"]): row["value"] for row in rows.to_dicts()}
        got[str(name)] = np.array(
            [[cells[f"x{i}", f"x{j}"] for j in range(p)] for i in range(p)], dtype=float
        )
        scale = np.abs(expected["T"]).max()
        np.testing.assert_allclose(got[str(name)], expected[str(name)], atol=1e-12 * scale)
        (trace,), (det,) = set(rows["trace"]), set(rows["determinant"])
        assert trace == pytest.approx(np.trace(expected[str(name)]), rel=1e-9)
        if name != "B":  # of fewer clusters than features B is singular
            sign, log = np.linalg.slogdet(expected[str(name)])
            (log_determinant,) = set(rows["log_determinant"])
            assert sign == 1
            assert log_determinant == pytest.approx(log, rel=1e-9, abs=1e-9)
            assert det == pytest.approx(math.exp(log), rel=1e-9)
    np.testing.assert_allclose(got["T"], got["W"] + got["B"], rtol=1e-9, atol=1e-12 * scale)


@few
@given(generic, seeds)
def test_centroids_and_scatter_of_weighted_rows(points: Points, seed: int) -> None:
    weights = np.random.default_rng(seed).integers(1, 4, len(points.labels))
    repeated = Points(
        np.repeat(points.x, weights, axis=0), np.repeat(points.labels, weights).tolist()
    )
    frame = points.frame(times=weights)

    for verb in (sv.centroids, sv.scatter):
        weighted = verb(frame, "found", "x*", weight="times")
        expected = verb(repeated.frame(), "found", "x*")
        assert weighted.columns == expected.columns
        for row, other in zip(weighted.to_dicts(), expected.to_dicts(), strict=True):
            for name, value in other.items():
                if "determinant" in name and row["matrix"] == "B":
                    continue  # of fewer clusters than features B is singular, or nearly so
                exact = not isinstance(value, float)
                assert row[name] == value if exact else agree(row[name], value, tiny=1e-9), name
