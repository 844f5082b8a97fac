"""What must hold for every index on any data, over the whole catalog.

Each example scores all indices in one call; the loops over the catalog are inside.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import brute
import brute_internal
import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn import metrics

import sqlvalid as sv
from sqlvalid.catalog import CATALOG, COMPARATIVE, EXTERNAL, Index, resolve

# The same examples on every run and machine; a deadline would time the machine.
few = settings(deadline=None, derandomize=True, database=None, max_examples=50)
many = settings(few, max_examples=120)

ALPHAS = (0.5, 2.0)
NAMES = ["all", *(f"pair_f({alpha:g})" for alpha in ALPHAS)]
INDICES = resolve(NAMES)
UNCHANGED_BY_NAMES = [index for index in INDICES if not index.literal]

# brute.py rounds once or twice, the package a few dozen times: 1e-9 is far from both. 1e-12 is
# for values that are differences of numbers of the size of 1, as ami and mutual information near 0.
RELATIVE, ABSOLUTE = 1e-9, 1e-12
# The same formula on the same counts: only the order of a sum may differ.
REORDERED = 1e-12

Columns = dict[str, list[int]]


def score(columns: Mapping[str, Any], **options: Any) -> dict[str, Any]:
    """The row of all indices of the column `found`."""
    frame = pl.DataFrame(columns)
    scored = sv.score(frame, "found", truth="truth", indices=NAMES, **options)
    return scored.row(0, named=True)


def agree(
    value: float | None, expected: float | None, rel: float = RELATIVE, tiny: float = ABSOLUTE
) -> bool:
    if value is None or expected is None:
        return value is expected
    return math.isclose(value, expected, rel_tol=rel, abs_tol=tiny)


def assert_same(row: Mapping[str, Any], other: Mapping[str, Any], indices: list[Index]) -> None:
    """Equal values, up to the order of a sum, and equal reasons for having none."""
    names = [index.name for index in indices]
    unequal = {
        name: (row[name], other[name])
        for name in names
        if not agree(row[name], other[name], REORDERED, REORDERED)
    }
    assert not unequal
    assert (row["n"], row["k"]) == (other["n"], other["k"])
    assert told(row, names) == told(other, names)


def told(row: Mapping[str, Any], names: list[str]) -> list[str]:
    return [reason for reason in row["undefined"] if reason.split(":")[0] in names]


def labels_of(n: int, k: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, k - 1), min_size=n, max_size=n)


@st.composite
def related(draw: st.DrawFn, truth: list[int]) -> list[int]:
    """Labels that have to do with the truth: renamed, merged, split, or with a few changed."""
    kind = draw(st.sampled_from(["renamed", "merged", "split", "changed"]))
    if kind == "renamed":
        return [11 - label for label in truth]
    if kind == "merged":
        return [label // 2 for label in truth]
    n = len(truth)
    if kind == "split":
        return [2 * a + b for a, b in zip(truth, draw(labels_of(n, 2)), strict=True)]
    changes = draw(st.dictionaries(st.integers(0, n - 1), st.integers(0, 11), max_size=5))
    return [changes.get(i, label) for i, label in enumerate(truth)]


@st.composite
def clusterings(draw: st.DrawFn, max_n: int = 60) -> Columns:
    """A truth and labels: unrelated, related, one cluster for all, or one for each point."""
    n = draw(st.integers(1, max_n))
    truth = draw(labels_of(n, draw(st.integers(1, 12))))
    found = draw(
        st.one_of(
            st.integers(1, 12).flatmap(lambda k: labels_of(n, k)),
            related(truth),
            st.sampled_from([[0] * n, list(range(n))]),
        )
    )
    if draw(st.booleans()):
        truth, found = found, truth
    return {"truth": truth, "found": found}


def test_every_index_has_an_independent_reference() -> None:
    known = {*brute.EXTERNAL, *brute.PARAMETERISED, *brute.COMPARATIVE, *brute_internal.INTERNAL}

    lacking = [index.name for index in CATALOG if index.name not in known]

    assert not lacking, f"no independent reference: {lacking}"


def test_the_examples_score_every_external_index() -> None:
    scored = {index.name.split("(")[0] for index in INDICES}

    assert scored == {index.name for index in EXTERNAL}


def reference(columns: Columns) -> dict[str, float | None]:
    truth, found = columns["truth"], columns["found"]
    values = {name: index(truth, found) for name, index in brute.EXTERNAL.items()}
    for alpha in ALPHAS:
        values[f"pair_f({alpha:g})"] = brute.pair_f(truth, found, alpha)
    return values


@many
@given(clusterings())
def test_values_are_those_of_the_definitions(columns: Columns) -> None:
    expected = reference(columns)

    row = score(columns)

    wrong = {
        name: (row[name], value) for name, value in expected.items() if not agree(row[name], value)
    }
    assert not wrong
    assert row["n"] == len(columns["truth"])
    assert row["k"] == len(set(columns["found"]))
    undefined = {name for name, value in expected.items() if value is None}
    assert {reason.split(": ")[0] for reason in row["undefined"]} == undefined


def partitions(n: int, labels: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """All partitions of n points, each once: a point joins a cluster met before or opens one."""
    if len(labels) == n:
        yield labels
        return
    for label in range(len(set(labels)) + 1):
        yield from partitions(n, (*labels, label))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_every_pair_of_partitions_of_a_few_points(n: int) -> None:
    """All degenerate cases there are: nothing together, all together, 0/0 of every kind."""
    runs = pl.DataFrame(
        [(run, *at) for run, found in enumerate(partitions(n)) for at in enumerate(found)],
        schema=["run", "point", "label"],
        orient="row",
    )
    for truth in partitions(n):
        points = pl.DataFrame({"point": range(n), "truth": truth})

        rows = sv.score_runs(runs, points=points, truth="truth", indices=NAMES).to_dicts()

        for row, found in zip(rows, partitions(n), strict=True):
            expected = reference({"truth": list(truth), "found": list(found)})
            wrong = {
                name: (row[name], value)
                for name, value in expected.items()
                if not agree(row[name], value)
            }
            assert not wrong, (truth, found)


def test_weights_of_the_f_measure_that_print_alike_are_two_indices() -> None:
    """1 and 1.0000001 are not the same weight; neither may stand for the other."""
    columns = {"truth": [0, 0, 0, 1, 1], "found": [0, 0, 1, 1, 1]}
    frame, asked = pl.DataFrame(columns), ["pair_f(1)", "pair_f(1.0000001)"]

    scored = sv.score(frame, "found", truth="truth", indices=asked)

    assert scored.width == 3 + len(asked) + 1


@few
@given(clusterings(), st.sampled_from([2.0, 10.0, 1.5]))
def test_a_logarithm_base_divides_entropies_and_nothing_else(columns: Columns, base: float) -> None:
    row, based = score(columns), score(columns, log_base=base)

    for index in INDICES:
        in_units = index.family == "entropy" and index.upper == math.inf
        unit = math.log(base) if in_units else 1.0
        expected = None if row[index.name] is None else row[index.name] / unit
        assert agree(based[index.name], expected, REORDERED), index.name


@few
@given(clusterings())
def test_pairs_and_contingency_are_counts_of_points(columns: Columns) -> None:
    frame = pl.DataFrame(columns)

    counts = sv.pairs(frame, "truth", "found").row(0)
    cells = sv.contingency(frame, "truth", "found")

    assert counts == brute.pair_counts(columns["truth"], columns["found"])
    expected = Counter(zip(columns["truth"], columns["found"], strict=True))
    assert {(a, b): n for a, b, n in cells.rows()} == expected


@few
@given(clusterings())
def test_match_is_one_to_one_and_as_good_as_any(columns: Columns) -> None:
    frame = pl.DataFrame(columns)

    matched = sv.match(frame, "found", truth="truth")

    assert sorted(matched["cluster"]) == sorted(set(columns["found"]))
    assigned = matched.drop_nulls("class")
    assert assigned["class"].n_unique() == len(assigned)
    cells = Counter(zip(columns["truth"], columns["found"], strict=True))
    for row in assigned.to_dicts():
        assert row["n"] == cells[row["class"], row["cluster"]]
    best = brute.max_matching(columns["truth"], columns["found"])
    assert matched["n"].sum() / len(frame) == pytest.approx(best, rel=1e-15)


@many
@given(clusterings())
def test_values_keep_within_their_bounds(columns: Columns) -> None:
    row = score(columns)

    for index in INDICES:
        value = row[index.name]
        assert value is None or math.isfinite(value), index.name
        assert value is None or index.lower <= value <= index.upper, index.name


@few
@given(clusterings())
def test_truth_and_labels_change_places(columns: Columns) -> None:
    row = score(columns)
    swapped = score({"truth": columns["found"], "found": columns["truth"]})

    for index in INDICES:
        if index.swapped is None:
            continue
        value = swapped[index.swapped.removeprefix("-")]
        if index.swapped.startswith("-") and value is not None:
            value = -value
        assert agree(value, row[index.name], REORDERED, REORDERED), index.name


RENAMED: dict[str, Callable[[int], Any]] = {
    "strings": lambda label: f"cluster {label}",
    "strings in another order": lambda label: (
        "zyxwvutsrqponmlkjihgfedcba"[label % 26] * (label + 1)
    ),
    "negative": lambda label: -1 - label,
    "far apart": lambda label: (label * 7919) ** 3 - 10**9,
    "floats": lambda label: label / 3 - 1,
}
renamings = st.sampled_from(sorted(RENAMED))


@few
@given(clusterings(), renamings, renamings)
def test_names_of_classes_and_clusters_do_not_matter(
    columns: Columns, of_truth: str, of_found: str
) -> None:
    renamed = {
        "truth": [RENAMED[of_truth](label) for label in columns["truth"]],
        "found": [RENAMED[of_found](label) for label in columns["found"]],
    }

    assert_same(score(renamed), score(columns), UNCHANGED_BY_NAMES)


@few
@given(clusterings(), st.randoms(use_true_random=False))
def test_order_of_rows_does_not_matter(columns: Columns, order: random.Random) -> None:
    rows = list(zip(columns["truth"], columns["found"], strict=True))
    order.shuffle(rows)
    truth, found = (list(column) for column in zip(*rows, strict=True))

    assert_same(score({"truth": truth, "found": found}), score(columns), INDICES)


@few
@given(st.integers(3, 60).flatmap(lambda n: labels_of(n, 12)))
def test_a_renamed_truth_is_a_perfect_match(truth: list[int]) -> None:
    # One class, or a class for every point, leaves indices of pairs without a value.
    assume(1 < len(set(truth)) < len(truth))

    row = score({"truth": truth, "found": [f"c{label}" for label in truth]})

    for index in UNCHANGED_BY_NAMES:
        if index.perfect is not None:
            assert agree(row[index.name], index.perfect, REORDERED, REORDERED), index.name


@few
@given(clusterings(max_n=30), st.data())
def test_a_weight_is_so_many_rows(columns: Columns, data: st.DataObject) -> None:
    n = len(columns["truth"])
    weights = data.draw(st.lists(st.integers(0, 5), min_size=n, max_size=n), label="weights")
    assume(any(weights))
    repeated = {
        name: [label for label, times in zip(column, weights, strict=True) for _ in range(times)]
        for name, column in columns.items()
    }

    weighted = score(columns | {"times": weights}, weight="times")

    assert_same(weighted, score(repeated), INDICES)


@few
@given(clusterings(max_n=30))
def test_data_taken_twice(columns: Columns) -> None:
    twice = score({name: column * 2 for name, column in columns.items()})

    assert_same(
        score(columns | {"times": [2] * len(columns["truth"])}, weight="times"), twice, INDICES
    )
    # Shares of points and entropies do not change; pairs do (a point and its copy are one), and
    # so does what chance would give.
    shares = [index for index in INDICES if index.family != "pairs" and index.name != "ami"]
    once = score(columns) | {"n": twice["n"]}
    assert_same(once, twice, shares)


def without_noise(columns: Columns, *labels: str) -> Columns:
    rows = [row for row in pl.DataFrame(columns).to_dicts() if all(row[c] != -1 for c in labels)]
    return {name: [row[name] for row in rows] for name in columns}


def noise_alone(column: list[int]) -> list[int]:
    """A new label, not met so far, for every noise point."""
    return [label if label != -1 else 1000 + place for place, label in enumerate(column)]


def marked(column: list[int], is_noise: list[bool]) -> list[int]:
    return [-1 if noise else label for label, noise in zip(column, is_noise, strict=True)]


@st.composite
def noisy(draw: st.DrawFn) -> Columns:
    columns = draw(clusterings(max_n=40))
    n = len(columns["truth"])
    is_noise = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    found = [
        -1 if noise else label for noise, label in zip(is_noise, columns["found"], strict=True)
    ]
    return columns | {"found": found}


@few
@given(noisy())
def test_noise_excluded_is_noise_filtered_out(columns: Columns) -> None:
    assume(any(label != -1 for label in columns["found"]))
    expected = score(without_noise(columns, "found"))

    assert_same(score(columns, noise=-1), expected, INDICES)
    assert_same(score(columns, noise=-1, noise_as="exclude"), expected, INDICES)


@few
@given(noisy())
def test_noise_as_singletons_is_a_cluster_for_each_noise_point(columns: Columns) -> None:
    by_hand = columns | {"found": noise_alone(columns["found"])}

    row = score(columns, noise=-1, noise_as="singletons")

    assert_same(row, score(by_hand), UNCHANGED_BY_NAMES)


@few
@given(noisy())
def test_noise_as_a_cluster_is_a_label_like_others(columns: Columns) -> None:
    assert_same(score(columns, noise=-1, noise_as="cluster"), score(columns), INDICES)


@few
@given(noisy(), st.data())
def test_runs_score_as_columns_do(columns: Columns, data: st.DataObject) -> None:
    n = len(columns["truth"])
    frame = pl.DataFrame(columns).with_columns(
        pl.Series("other", data.draw(labels_of(n, 5), label="other")), point=pl.Series(range(n))
    )
    runs = frame.unpivot(
        ["found", "other"], index="point", variable_name="run", value_name="label"
    ).sample(fraction=1.0, shuffle=True, seed=n)
    points = frame.select("point", "truth").reverse()

    by_run = sv.score_runs(runs, points=points, truth="truth", indices=NAMES)
    by_column = sv.score(frame, ["found", "other"], truth="truth", indices=NAMES)

    assert by_run["partition"].to_list() == ["found", "other"]
    for run, column in zip(by_run.to_dicts(), by_column.to_dicts(), strict=True):
        assert_same(run, column, INDICES)


@st.composite
def comparisons(draw: st.DrawFn) -> Columns:
    columns = draw(clusterings(max_n=30))
    other = draw(related(columns["truth"]) | labels_of(len(columns["truth"]), 4))
    return {"truth": columns["truth"], "one": columns["found"], "two": other}


def compared(columns: Columns, **options: Any) -> dict[tuple[str, str], dict[str, Any]]:
    """The rows of compare by primary and alternative; every other column is a clustering."""
    labels = [name for name in columns if name != "truth"]
    frame = sv.compare(pl.DataFrame(columns), labels, truth="truth", **options)
    return {(row["primary"], row["alternative"]): row for row in frame.to_dicts()}


@few
@given(comparisons(), st.data())
def test_compare_counts_pairs_as_the_algorithm_does(columns: Columns, data: st.DataObject) -> None:
    n = len(columns["truth"])
    columns = columns | {"three": data.draw(labels_of(n, 3), label="three")}

    rows = compared(columns)

    assert len(rows) == 6
    for (primary, alternative), row in rows.items():
        counts = brute.comparison_counts(columns["truth"], columns[primary], columns[alternative])
        assert tuple(row[name] for name in ("br", "rw", "wr", "bw")) == counts
        assert sum(counts) == n * (n - 1) // 2
        for name, measure in brute.COMPARATIVE.items():
            assert agree(row[name], measure(*counts)), name
        undefined = {name for name in brute.COMPARATIVE if row[name] is None}
        assert {reason.split(": ")[0] for reason in row["undefined"]} == undefined


@few
@given(comparisons())
def test_comparisons_keep_within_bounds_and_change_places(columns: Columns) -> None:
    rows = compared(columns)
    row, swapped = rows["one", "two"], rows["two", "one"]

    for index in COMPARATIVE:
        value = row[index.name]
        assert value is None or index.lower <= value <= index.upper, index.name
        if index.swapped is not None:
            assert index.swapped == f"-{index.name}"
            opposite = None if swapped[index.name] is None else -swapped[index.name]
            assert agree(value, opposite, 0.0, 0.0), index.name


def only_counts(rows: dict[tuple[str, str], dict[str, Any]]) -> dict[tuple[str, str], list[int]]:
    return {pair: [row[c] for c in ("br", "rw", "wr", "bw")] for pair, row in rows.items()}


@few
@given(comparisons(), st.data())
def test_comparisons_see_to_noise(columns: Columns, data: st.DataObject) -> None:
    n = len(columns["truth"])
    for name in ("one", "two"):
        is_noise = data.draw(st.lists(st.booleans(), min_size=n, max_size=n), label=name)
        columns = columns | {name: marked(columns[name], is_noise)}
    clean = without_noise(columns, "one", "two")
    assume(clean["truth"])
    alone = columns | {name: noise_alone(columns[name]) for name in ("one", "two")}

    assert only_counts(compared(columns, noise=-1)) == only_counts(compared(clean))
    singletons = compared(columns, noise=-1, noise_as="singletons")
    assert only_counts(singletons) == only_counts(compared(alone))
    cluster = compared(columns, noise=-1, noise_as="cluster")
    assert only_counts(cluster) == only_counts(compared(columns))


# scikit-learn's pair counts, entropies and mutual information are exact up to rounding; its
# expected mutual information goes through differences of log-gamma, which at 2000 points
# (log-gamma 1.3e4, so 2e-12 each) leaves some 1e-12. Near chance that is an error of the
# difference of two information values, hence absolute.
SKLEARN: dict[str, Callable[[Any, Any], float]] = {
    "rand": metrics.rand_score,
    "ari": metrics.adjusted_rand_score,
    "folkes_mallows": metrics.fowlkes_mallows_score,
    "mutual_information": metrics.mutual_info_score,
    "homogeneity": metrics.homogeneity_score,
    "completeness": metrics.completeness_score,
    "nmi_arithmetic": metrics.v_measure_score,
    "ami": metrics.adjusted_mutual_info_score,
    "label_accuracy": metrics.accuracy_score,
}
AVERAGES = {
    "nmi": "geometric",
    "nmi_arithmetic": "arithmetic",
    "nmi_max": "max",
    "nmi_min": "min",
}

Ints = np.ndarray[Any, np.dtype[np.int64]]


def sampled(shape: str, seed: int) -> tuple[Ints, Ints]:
    """Some 500 to 2000 points: two clusterings that are related or not, even or not."""
    draw = np.random.default_rng(seed)
    n, k = int(draw.integers(500, 2001)), int(draw.integers(2, 40))
    truth = draw.integers(0, k, n)
    if shape == "uneven":
        truth = np.minimum(draw.geometric(0.3, n), k)
    found = draw.integers(0, int(draw.integers(2, 40)), n)
    if shape == "near":
        found = np.where(draw.random(n) < 0.1, found, truth * 3 % k)
    return truth, found


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shape", ["even", "uneven", "near"])
def test_values_are_those_of_scikit_learn(shape: str, seed: int) -> None:
    truth, found = sampled(shape, seed)

    row = score({"truth": truth, "found": found})

    for name, theirs in SKLEARN.items():
        assert row[name] == pytest.approx(theirs(truth, found), rel=1e-9, abs=1e-11), name
    for name, average in AVERAGES.items():
        value = metrics.normalized_mutual_info_score(truth, found, average_method=average)
        assert row[name] == pytest.approx(value, rel=1e-9), name
    macro = {"average": "macro", "zero_division": 0.0}
    precision = metrics.precision_score(truth, found, **macro)
    assert row["label_precision"] == pytest.approx(precision, rel=1e-9)
    present = sorted(set(truth.tolist()))
    recall = metrics.recall_score(truth, found, labels=present, **macro)
    assert row["label_recall"] == pytest.approx(recall, rel=1e-9)


@pytest.mark.parametrize("shape", ["even", "uneven", "near"])
def test_pairs_are_half_of_scikit_learns_ordered_pairs(shape: str) -> None:
    truth, found = sampled(shape, 99)

    counts = sv.pairs(pl.DataFrame({"truth": truth, "found": found}), "truth", "found").row(0)

    (nn, ny), (yn, yy) = metrics.cluster.pair_confusion_matrix(truth, found).tolist()
    assert tuple(2 * count for count in counts) == (yy, yn, ny, nn)
