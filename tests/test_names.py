"""What people type finds the index they mean."""

from __future__ import annotations

import pytest

import sqlvalid as sv
from sqlvalid.catalog import CATALOG, EXTERNAL, resolve

CLUSTERCRIT = [
    "Czekanowski_Dice", "Folkes_Mallows", "Hubert", "Jaccard", "Kulczynski", "McNemar", "Phi",
    "Precision", "Rand", "Recall", "Rogers_Tanimoto", "Russel_Rao", "Sokal_Sneath1",
    "Sokal_Sneath2",
]  # fmt: skip


def found(name: str) -> list[str]:
    return [row.name for row in resolve(name)]


@pytest.mark.parametrize("name", CLUSTERCRIT)
def test_clustercrit_names_and_abbreviations(name: str) -> None:
    assert found(name) == [name.lower()]
    others = [n.lower() for n in CLUSTERCRIT if n != name]
    for length in range(2, len(name)):
        abbreviation = name[:length].lower()
        if not any(other.startswith(abbreviation) for other in others):
            assert found(abbreviation) == [name.lower()], abbreviation


def test_the_group_of_clustercrit_is_its_fourteen() -> None:
    assert sorted(found("clustercrit")) == sorted(name.lower() for name in CLUSTERCRIT)


@pytest.mark.parametrize("row", EXTERNAL, ids=lambda row: row.name)
def test_every_alias_resolves(row: object) -> None:
    assert row in EXTERNAL
    for name in row.aliases:  # type: ignore[attr-defined]
        assert found(name.upper()) == [row.name]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("Folkes-Mallows", "folkes_mallows"),
        ("fowlkes mallows", "folkes_mallows"),
        (" ARI ", "ari"),
        ("accuracy", "max_matching"),
        ("adj", None),
        ("mc", "mcnemar"),
        ("nmi", "nmi"),
        ("nmi_ma", "nmi_max"),
        ("cond", "conditional_entropy"),
        ("fm", "folkes_mallows"),
    ],
)
def test_what_people_type(typed: str, meant: str | None) -> None:
    if meant is None:
        with pytest.raises(sv.SqlvalidError, match="ambiguous"):
            found(typed)
    else:
        assert found(typed) == [meant]


def test_groups_are_names_and_repeats_count_once() -> None:
    assert found("entropy") == [row.name for row in EXTERNAL if row.family == "entropy"]
    together = resolve(["ari", "pairs", "ARI", "all"])
    assert len({row.name for row in together}) == len(together) == len(resolve("all"))
    assert together[0].name == "ari"


def test_all_leaves_out_what_needs_a_parameter() -> None:
    assert "pair_f" not in found("all")
    frame = sv.score(sv.iris(), "km3", truth="species", indices=["pair_f(1)", "dice", "pair_f(2)"])
    assert frame["pair_f(1)"].item() == pytest.approx(frame["czekanowski_dice"].item(), rel=1e-15)
    p, r = (frame_value(name) for name in ("precision", "recall"))
    assert frame["pair_f(2)"].item() == pytest.approx(3 * p * r / (2 * p + r), rel=1e-14)


def frame_value(name: str) -> float:
    value: float = sv.score(sv.iris(), "km3", truth="species", indices=name)[name].item()
    return value


def test_the_list_of_indices() -> None:
    frame = sv.indices()
    assert frame["name"].to_list() == [row.name for row in CATALOG]
    assert frame.filter(name="ari")["statistics"].item().to_list()[-1] == "pair_counts"
