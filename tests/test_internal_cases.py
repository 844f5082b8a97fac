"""The linear internal indices against values computed outside this project.

The cases hold what clusterCrit 1.2.8 printed (`expected`), and, where its code departs from
its own printed formula, the value of the formula in 80-bit arithmetic (`expected_formula`),
which then is the reference. What is infinite or not a number there is null here.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import brute_internal
import numpy as np
import polars as pl
import pytest
from sklearn import metrics

import sqlvalid as sv
from sqlvalid.catalog import CATALOG
from sqlvalid.measure import batches

DATA = Path(__file__).parent / "data"
CASES = {
    case["name"]: case
    for path in sorted(DATA.glob("internal/*.json"))
    for case in [json.loads(path.read_text())]
}

# clusterCrit's own names are ours but for capitals.
CLUSTERCRIT = [
    "Ball_Hall",
    "Banfeld_Raftery",
    "Calinski_Harabasz",
    "Davies_Bouldin",
    "Det_Ratio",
    "Ksq_DetW",
    "Log_Det_Ratio",
    "Log_SS_Ratio",
    "PBM",
    "Ratkowsky_Lance",
    "Ray_Turi",
    "Scott_Symons",
    "SD_Scat",
    "SD_Dis",
    "S_Dbw",
    "Trace_W",
    "Trace_WiB",
    "Wemmert_Gancarski",
]
LINEAR = list(brute_internal.INTERNAL)

# Where rounding decides an index of clusterCrit, it decides these as well.
AS_ILL_AS = {
    "ball_hall_distance": "Ball_Hall",
    "c_over_sqrt_k": "Ratkowsky_Lance",
    "davies_bouldin_rms": "Davies_Bouldin",
    "log10_det_ratio": "Log_Det_Ratio",
    "log10_ss_ratio": "Log_SS_Ratio",
    "sd": "SD_Dis",
    "silhouette_alternative_simplified": "Ball_Hall",  # 1e-15 of a distance on top of 1e-6
    "trace_cov_w": "Trace_W",
}

# The references are doubles of 80-bit results; 1e-9 leaves room for the rounding of plain
# double sums on the worst conditioned case, 1e-14 for values that are differences near 0.
RELATIVE, ABSOLUTE = 1e-9, 1e-14

Row = dict[str, Any]

each_case = pytest.mark.parametrize("name", CASES)


def features_of(case: dict[str, Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array(case["features"], dtype=float)


def reference(case: dict[str, Any]) -> dict[str, float | None]:
    """The linear values of a case that can be compared, under our names."""
    values = case["expected"] | case["expected_formula"]
    return {
        name.lower(): None if values[name] in (None, "inf", "-inf") else values[name]
        for name in CLUSTERCRIT
        if name not in case["ill_conditioned"]
    }


def well_conditioned(case: dict[str, Any]) -> list[str]:
    ill = {name.lower() for name in case["ill_conditioned"]}
    ill |= {ours for ours, theirs in AS_ILL_AS.items() if theirs.lower() in ill}
    return [name for name in LINEAR if name not in ill]


@cache
def brute(name: str) -> dict[str, float | None]:
    return brute_internal.scores(features_of(CASES[name]), CASES[name]["labels"])


@cache
def scored(name: str, way: str) -> Row:
    """The row of a case; `way` is what the fixture of that name has seen to."""
    x, labels = features_of(CASES[name]), CASES[name]["labels"]
    columns = {f"x{j}": x[:, j] for j in range(x.shape[1])}
    frame = pl.DataFrame(columns | {"found": labels})
    return sv.score(frame, "found", features="x*", indices=LINEAR).row(0, named=True)


def unequal(row: Row, expected: dict[str, float | None]) -> Row:
    """What is not as expected: values, and nulls on one side only."""
    return {
        name: (row[name], value)
        for name, value in expected.items()
        if (row[name] is None) != (value is None)
        or (value is not None and row[name] != pytest.approx(value, rel=RELATIVE, abs=ABSOLUTE))
    }


def test_there_are_cases() -> None:
    assert len(CASES) == 49
    assert all(case["kind"] == "internal" for case in CASES.values())
    compared = sum(len(reference(case)) for case in CASES.values())
    assert compared == 49 * len(CLUSTERCRIT) - 24  # two cases that rounding decides


def test_every_index_of_features_has_an_independent_reference() -> None:
    lacking = [
        index.name
        for index in CATALOG
        if index.needs == "features" and index.name not in brute_internal.INTERNAL
    ]

    assert not lacking, f"no independent reference: {lacking}"


def test_the_independent_references_are_of_the_catalog() -> None:
    assert set(LINEAR) <= {index.name for index in CATALOG if index.needs == "features"}


def test_the_ways_are_three(way: str) -> None:
    taken = batches.way(150, 4, 1, False, False)

    assert taken == {"kernel": "memory", "sql": "sql", "stream": "batches"}[way]


@each_case
def test_the_definitions_give_the_reference_values(name: str) -> None:
    assert unequal(brute(name), reference(CASES[name])) == {}


@each_case
def test_values_are_those_of_clustercrit(name: str, way: str) -> None:
    assert unequal(scored(name, way), reference(CASES[name])) == {}


@each_case
def test_values_are_those_of_the_definitions(name: str, way: str) -> None:
    expected = {index: brute(name)[index] for index in well_conditioned(CASES[name])}

    row = scored(name, way)

    assert unequal(row, expected) == {}
    assert (row["n"], row["k"]) == (CASES[name]["info"]["N"], CASES[name]["info"]["K"])


@each_case
def test_exactly_the_undefined_have_a_reason(name: str, way: str) -> None:
    row = scored(name, way)

    reasons = dict(reason.split(": ", 1) for reason in row["undefined"])
    assert set(reasons) == {index for index in LINEAR if row[index] is None}
    assert all(reasons.values())


SKLEARN: dict[str, Callable[[Any, Any], float]] = {
    "calinski_harabasz": metrics.calinski_harabasz_score,
    "davies_bouldin": metrics.davies_bouldin_score,
    "silhouette_squared": partial(metrics.silhouette_score, metric="sqeuclidean"),
}


@each_case
def test_values_are_those_of_scikit_learn(name: str, way: str) -> None:
    x, labels = features_of(CASES[name]), CASES[name]["labels"]
    # scikit-learn finds distances of centroids by expanding the square, which an offset spoils.
    x = x - x.mean(axis=0)
    well, row, defined = well_conditioned(CASES[name]), scored(name, way), brute(name)

    for index, theirs in SKLEARN.items():
        # Where ours is null scikit-learn says 0 or 1, of its own accord.
        if index in well and defined[index] is not None:
            expected = pytest.approx(theirs(x, labels), rel=RELATIVE, abs=ABSOLUTE)
            assert defined[index] == expected, index
            assert row[index] == expected, index


# Definitions on which the sources disagree, each under the name of the document it is from.
VARIANTS = {
    "davies_bouldin_mean": "davies_bouldin",
    "davies_bouldin_rms": "davies_bouldin_rms",
    "ball_hall_000": "ball_hall",
    "ball_hall_004": "ball_hall_distance",
    "log_det_ratio_ln": "log_det_ratio",
    "log_det_ratio_log10": "log10_det_ratio",
    "log_ss_ratio_000": "log_ss_ratio",
    "log_ss_ratio_004": "log10_ss_ratio",
    "ratkowsky_lance_000": "ratkowsky_lance",
    "c_sqrtk_004": "c_over_sqrt_k",
    "calinski_harabasz": "calinski_harabasz",
    "pbm": "pbm",
    "trace_w": "trace_w",
    "trace_covw": "trace_cov_w",
    "trace_wib": "trace_wib",
    "det_ratio": "det_ratio",
    "ksq_detw": "ksq_detw",
    "sswc": "silhouette_simplified",
    "asswc": "silhouette_alternative_simplified",
}


@pytest.mark.parametrize("clustering", ["good", "bad"])
def test_variants_on_the_iris_components(clustering: str, way: str) -> None:
    values = json.loads((DATA / "variants.json").read_text())[clustering]
    frame = pl.read_csv(DATA / "iris_pc.csv")
    expected = {index: values[name] for name, index in VARIANTS.items()}

    row = sv.score(frame, clustering, features="pc*", indices=LINEAR).row(0, named=True)
    by_definition = brute_internal.scores(frame.select("pc1", "pc2").to_numpy(), frame[clustering])

    assert unequal(by_definition, expected) == {}
    assert unequal(row, expected) == {}
    assert unequal(row, by_definition) == {}
