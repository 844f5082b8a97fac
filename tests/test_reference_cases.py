"""Desgraupes' fourteen external indices against values computed outside this project.

The cases hold what clusterCrit 1.2.8 printed (`expected`), and, where its code departs
from its own printed formula through float32 or int32 intermediates, the value of the
formula in 80-bit arithmetic (`expected_formula`), which then is the reference.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sqlvalid as sv
from sqlvalid.catalog import resolve

CASES = [json.loads(p.read_text()) for p in sorted(Path(__file__).parent.glob("data/cases/*.json"))]

# The references are doubles of 80-bit results; a formula of about ten roundings stays within
# 1e-15, so 1e-9 only leaves room for the values clusterCrit printed from its own doubles.
RELATIVE, ABSOLUTE = 1e-9, 1e-14


def reference(case: dict[str, Any]) -> dict[str, float | None]:
    return case["expected"] | case["expected_formula"]


def frame_of(case: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame({"truth": case["labels1"], "found": case["labels2"]})


def test_there_are_cases() -> None:
    assert len(CASES) == 24
    assert all(len(reference(case)) == 14 for case in CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_indices_by_their_clustercrit_names(case: dict[str, Any]) -> None:
    expected = reference(case)

    row = sv.score(frame_of(case), "found", truth="truth", indices=list(expected)).row(
        0, named=True
    )

    for name, value in expected.items():
        (index,) = resolve(name)
        if value is None:
            assert row[index.name] is None, name
        else:
            approx = pytest.approx(value, rel=RELATIVE, abs=ABSOLUTE)
            assert row[index.name] == approx, name


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_exactly_the_undefined_have_a_reason(case: dict[str, Any]) -> None:
    expected = reference(case)

    row = sv.score(frame_of(case), "found", truth="truth", indices=list(expected)).row(
        0, named=True
    )

    reasons = dict(reason.split(": ", 1) for reason in row["undefined"])
    assert set(reasons) == {resolve(name)[0].name for name, v in expected.items() if v is None}
    assert all(reasons.values())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_pair_counts_are_exact(case: dict[str, Any]) -> None:
    counted = sv.pairs(frame_of(case), "truth", "found").row(0, named=True)

    assert counted == {name: case["info"][name] for name in ("yy", "yn", "ny", "nn")}
    assert sum(counted.values()) == case["info"]["N"] * (case["info"]["N"] - 1) // 2


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("ra", "rand"),
        ("fo", "folkes_mallows"),
        ("Czekanowski_Dice", "czekanowski_dice"),
        ("Folkes_Mallows", "folkes_mallows"),
        ("McNemar", "mcnemar"),
        ("Russel_Rao", "russel_rao"),
        ("Sokal_Sneath2", "sokal_sneath2"),
    ],
)
def test_names_that_desgraupes_types(typed: str, name: str) -> None:
    case = next(case for case in CASES if case["name"] == "ext_n5")

    scored = sv.score(frame_of(case), "found", truth="truth", indices=typed)

    assert scored.columns == ["partition", "n", "k", name, "undefined"]


def test_the_group_clustercrit_is_these_fourteen() -> None:
    names = {resolve(name)[0].name for case in CASES for name in case["expected"]}

    assert {index.name for index in resolve("clustercrit")} == names
