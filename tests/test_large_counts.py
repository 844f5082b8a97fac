"""Tables of up to 9e18 points, given through weights: pair counts stay exact integers.

Products of pair counts leave 64 bits from some 1e5 points on, and that is where other
implementations give an adjusted Rand index of -1.9. All references here are Python
integers and fractions over cells of equal points.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import brute
import polars as pl
import pytest

import sqlvalid as sv

Table = list[list[int]]

# Counts per class (row) and cluster (column). The near-chance tables differ from independence
# by one part in a thousand in each cell, which makes ari 1e-6: the two products of its numerator
# agree in their first six digits. Odd numbers make the counts of pairs end in any digit.
BILLION: dict[str, Table] = {
    "near chance": [[250250001, 249749999], [249749998, 250250002]],
    "near chance, uneven": [[90090007, 9909993], [809910003, 90089997]],
    "good": [[333333331, 7, 12345], [101, 333333337, 0], [0, 99991, 333220888]],
    "one small cluster": [[999999900, 3], [90, 7]],
    "refinement": [[400000003, 299999997, 0], [0, 0, 300000000]],
    "many": [[1000000 + (17 * i * j) % 1009 for j in range(30)] for i in range(33)],
}
FOUR_BILLION: dict[str, Table] = {
    "near chance": [[1001000001, 998999999], [998999998, 1001000002]],
    "good": [[1999999999, 11], [13, 1999999977]],
}
TRILLION: dict[str, Table] = {
    "near chance": [[250250000001, 249749999999], [249749999998, 250250000002]],
    "good": [[333333333331, 7, 12345], [101, 333333333337, 0], [0, 99991, 333333220888]],
}
LARGEST: dict[str, Table] = {
    "2**63 - 1 points": [[2**62 - 12345678901, 3], [5, 2**62 + 12345678892]],
}
ALL = {
    f"{size}: {name}": table
    for size, tables in (
        ("1e9", BILLION),
        ("4e9", FOUR_BILLION),
        ("1e12", TRILLION),
        ("9e18", LARGEST),
    )
    for name, table in tables.items()
}


def cells(table: Table) -> Iterable[tuple[tuple[int, int], int]]:
    return (((i, j), n) for i, row in enumerate(table) for j, n in enumerate(row))


def weighted(table: Table) -> pl.DataFrame:
    rows = [(truth, found, n) for (truth, found), n in cells(table)]
    schema = {"truth": pl.Int32, "found": pl.Int32, "times": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def score(table: Table, *indices: str) -> dict[str, Any]:
    frame = weighted(table)
    scored = sv.score(frame, "found", truth="truth", weight="times", indices=indices or None)
    return scored.row(0, named=True)


def exact_counts(table: Table) -> list[int]:
    return brute.weighted_counts(cells(table), brute.pair_kind)


def total(table: Table) -> int:
    return sum(map(sum, table))


@pytest.mark.parametrize("name", ALL)
def test_pairs_are_exact(name: str) -> None:
    table = ALL[name]

    counted = sv.pairs(weighted(table), "truth", "found", weight="times").row(0)

    assert [int(count) for count in counted] == exact_counts(table)
    assert sum(map(int, counted)) == total(table) * (total(table) - 1) // 2


@pytest.mark.parametrize("name", ALL)
def test_number_of_points_is_exact(name: str) -> None:
    table = ALL[name]

    row = score(table, "rand")

    assert row["n"] == total(table)
    assert row["k"] == len(table[0])
    assert row["undefined"] == []


@pytest.mark.parametrize("name", ALL)
def test_indices_of_pairs_keep_their_digits(name: str) -> None:
    """1e-13 below 3e9 points, where every count and the determinant are integers.

    Beyond, the determinant yy * nn - yn * ny of ari, hubert and phi is taken in floating
    point and loses the digits that cancel, six of sixteen in the near-chance tables: 1e-9.
    McNemar's yn - ny is a difference of doubles at any size.
    """
    table = ALL[name]
    counts = exact_counts(table)
    cancelling = {"ari", "hubert", "phi"} if total(table) >= 3 * 10**9 else set()

    row = score(table, "pairs")

    for index, formula in brute.OF_PAIR_COUNTS.items():
        if index.startswith("mcnemar"):
            continue
        relative = 1e-9 if index in cancelling else 1e-13
        assert row[index] == pytest.approx(formula(*counts), rel=relative, abs=0), index


@pytest.mark.parametrize("name", [name for name in ALL if name.startswith("1e9")])
def test_mcnemar_keeps_its_digits(name: str) -> None:
    """yn and ny are doubles of 5e17 here at most, so their difference is off by some 64.

    Held against the root of their sum that is 1e-7 at the very most, whatever cancels.
    """
    table = ALL[name]
    _, yn, ny, _ = exact_counts(table)
    assert yn + ny > 0

    row = score(table, "mcnemar", "mcnemar_chi2", "mcnemar_p")

    slack = 128 / math.sqrt(yn + ny)
    expected = brute.mcnemar(*exact_counts(table))
    assert row["mcnemar"] == pytest.approx(expected, rel=1e-13, abs=slack)
    assert row["mcnemar_chi2"] == pytest.approx(row["mcnemar"] ** 2, rel=1e-12)
    assert 0 <= row["mcnemar_p"] <= 1


def test_near_chance_is_near_chance() -> None:
    """The tables above are as hard as they say: ari is 1e-6 and positive."""
    for tables in (BILLION, FOUR_BILLION, TRILLION):
        value = brute.adjusted_rand(*exact_counts(tables["near chance"]))

        assert value == pytest.approx(1e-6, rel=0.01)


@pytest.mark.parametrize("name", ["near chance", "good", "refinement"])
def test_weights_in_many_rows_add_up(name: str) -> None:
    """The same table in ten thousand rows, whose weights differ, has the same counts."""
    table = BILLION[name]
    rows = []
    for (truth, found), n in cells(table):
        share, rest = divmod(n, 2000)
        rows += [(truth, found, share + (i < rest)) for i in range(2000)]
    frame = pl.DataFrame(rows, schema=["truth", "found", "times"], orient="row")

    counted = sv.pairs(frame, "truth", "found", weight="times").row(0)

    assert list(counted) == exact_counts(table)


def test_partitions_on_both_sides_of_exact_determinants() -> None:
    """One call, two partitions, and noise that leaves only one of them with 3e9 points."""
    small, large = BILLION["near chance"], FOUR_BILLION["near chance"]
    tables = {"small": small, "large": large}
    rows = [
        (truth, *((found if name == table else -1) for name in tables), n)
        for table in tables
        for (truth, found), n in cells(tables[table])
    ]
    frame = pl.DataFrame(rows, schema=["truth", *tables, "times"], orient="row")

    scored = sv.score(
        frame, list(tables), truth="truth", weight="times", noise=-1, indices=["ari", "hubert"]
    )

    for row in scored.to_dicts():
        counts = exact_counts(tables[row["partition"]])
        relative = 1e-13 if row["partition"] == "small" else 1e-9
        assert row["n"] == total(tables[row["partition"]])
        for index in ("ari", "hubert"):
            expected = brute.OF_PAIR_COUNTS[index](*counts)
            assert row[index] == pytest.approx(expected, rel=relative), index


@pytest.mark.parametrize("kind", [pl.Int64, pl.UInt64, pl.Float64, pl.Decimal(38, 0)])
def test_type_of_weights_does_not_matter(kind: Any) -> None:
    table = BILLION["good"]
    frame = weighted(table).with_columns(pl.col("times").cast(kind))

    counted = sv.pairs(frame, "truth", "found", weight="times").row(0)

    assert list(counted) == exact_counts(table)


TRIPLES: dict[str, dict[tuple[int, int, int], int]] = {
    "1e9, all meet all": {
        (g, p, q): 125000000 + 1001 * (g - p) + 37 * (p - q)
        for g in (0, 1)
        for p in (0, 1)
        for q in (0, 1)
    },
    "1e9, nearly right": {
        (0, 0, 0): 499999001,
        (0, 0, 1): 333,
        (0, 1, 0): 666,
        (1, 1, 1): 499998991,
        (1, 0, 1): 7,
        (1, 1, 2): 1002,
    },
    "1e12, three of each": {
        (g, p, q): 10**12 // 27 + 13 * g * p - 5 * q
        for g in range(3)
        for p in range(3)
        for q in range(3)
    },
}


@pytest.mark.parametrize("name", TRIPLES)
def test_comparisons_count_exactly(name: str) -> None:
    triples = TRIPLES[name]
    rows = [(*cell, n) for cell, n in triples.items()]
    frame = pl.DataFrame(rows, schema=["truth", "one", "two", "times"], orient="row")
    n = sum(triples.values())

    compared = sv.compare(frame, ["one", "two"], truth="truth", weight="times")

    br, rw, wr, bw = brute.weighted_counts(triples.items(), brute.comparison_kind)
    there, back = ([int(c) for c in row] for row in compared.select("br", "rw", "wr", "bw").rows())
    assert there == [br, rw, wr, bw]
    assert back == [br, wr, rw, bw]
    assert sum(there) == n * (n - 1) // 2
    for measure, formula in brute.COMPARATIVE.items():
        # Sums and differences of four doubles: what cancels is held against all pairs.
        expected = formula(br, rw, wr, bw)
        assert compared[measure][0] == pytest.approx(expected, rel=1e-13, abs=1e-15), measure


@pytest.mark.parametrize("name", ALL)
def test_shares_of_points_at_any_size(name: str) -> None:
    table = ALL[name]
    n = total(table)
    classes, clusters = [sum(row) for row in table], [sum(col) for col in zip(*table, strict=True)]

    row = score(table, "matching")

    majority = Fraction(sum(max(col) for col in zip(*table, strict=True)), n)
    assert row["purity"] == pytest.approx(float(majority), rel=1e-13)
    agreeing = Fraction(sum(table[i][i] for i in range(min(len(table), len(table[0])))), n)
    assert row["label_accuracy"] == pytest.approx(float(agreeing), rel=1e-13)
    squares = [(Fraction(m * m, n), i, j) for (i, j), m in cells(table)]
    precision = sum(square / clusters[j] for square, _, j in squares)
    recall = sum(square / classes[i] for square, i, _ in squares)
    assert row["bcubed_precision"] == pytest.approx(float(precision), rel=1e-13)
    assert row["bcubed_recall"] == pytest.approx(float(recall), rel=1e-13)


@pytest.mark.parametrize("name", [name for name in ALL if "many" not in name])
def test_matching_at_any_size(name: str) -> None:
    """Small tables, so all assignments are tried."""
    table = ALL[name]
    wide = table if len(table) <= len(table[0]) else [list(c) for c in zip(*table, strict=True)]
    best = max(_assigned(wide, 0, frozenset()))

    row = score(table, "max_matching")
    matched = sv.match(weighted(table), "found", truth="truth", weight="times")

    assert row["max_matching"] == pytest.approx(float(Fraction(best, total(table))), rel=1e-15)
    assert sum(matched["n"].to_list()) == best


def _assigned(table: Table, row: int, used: frozenset[int]) -> Iterable[int]:
    if row == len(table):
        yield 0
        return
    for column, n in enumerate(table[row]):
        if column not in used:
            yield from (n + rest for rest in _assigned(table, row + 1, used | {column}))


@pytest.mark.parametrize("name", ALL)
def test_chance_correction_is_finite_and_ordered(name: str) -> None:
    """Correction for chance takes a share, and next to nothing at this size."""
    row = score(ALL[name], "ami", "nmi_arithmetic")

    assert -1 <= row["ami"] <= 1
    assert row["ami"] <= row["nmi_arithmetic"]
    assert row["ami"] == pytest.approx(row["nmi_arithmetic"], abs=1e-6)


@pytest.mark.parametrize("quarter", [2_500_000, 250_000_000])
def test_expected_mutual_information_of_independent_halves(quarter: int) -> None:
    """No outside value exists at 1e9 points, but the limit does: (r - 1)(c - 1) / 2N nats.

    2N times mutual information is in the limit chi-squared with (r - 1)(c - 1) degrees of
    freedom, and the next term is smaller by 1/N. Mutual information is exactly 0 here, so
    ami is -E / (ln 2 - E). E is 5e-10 at 1e9 points, a sum of logarithms near 0 with an
    error of some 1e-16: six digits are left.
    """
    n = 4 * quarter
    expected = 1 / (2 * n)

    row = score([[quarter, quarter], [quarter, quarter]], "mutual_information", "ami")

    assert row["mutual_information"] == 0
    assert row["ami"] == pytest.approx(-expected / (math.log(2) - expected), rel=1e-5)


@pytest.mark.parametrize(
    "table",
    [
        [[400, 20, 3], [15, 350, 40], [1, 60, 311]],
        [[100, 101], [99, 100], [300, 298], [7, 5]],
        [[1, 0, 0, 500], [0, 1, 0, 300], [2, 2, 2, 2]],
    ],
    ids=["good", "near chance", "lopsided"],
)
def test_chance_correction_of_a_thousand_points_through_weights(table: Table) -> None:
    """Against exact hypergeometric probabilities, up to rounding of the logarithms."""
    truth = [i for (i, _), n in cells(table) for _ in range(n)]
    found = [j for (_, j), n in cells(table) for _ in range(n)]

    row = score(table, "ami")

    expected = brute.adjusted_mutual_information(truth, found)
    assert row["ami"] == pytest.approx(expected, rel=1e-9, abs=1e-12)
