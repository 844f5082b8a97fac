"""A label column may have any plain type: the clustering is the same, and so is its score."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import sqlvalid as sv
from sqlvalid.catalog import EXTERNAL, Index

TRUTH = [0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 0, 1]
FOUND = [1, 1, 1, 0, 2, 2, 2, 2, 3, 3, 3, 3, 3, 0, 0, 1]

INDICES = [index for index in EXTERNAL if index.parameter is None]
UNCHANGED_BY_NAMES = [index for index in INDICES if not index.literal]


def values(column: list[int], of: Callable[[int], Any], dtype: Any) -> pl.Series:
    return pl.Series([of(label) for label in column], dtype=dtype)


INTEGERS = {
    str(dtype): ((lambda label: label + 1), dtype)
    for dtype in (
        pl.Int8,
        pl.Int16,
        pl.Int32,
        pl.Int64,
        pl.UInt8,
        pl.UInt16,
        pl.UInt32,
        pl.UInt64,
    )
}
AWKWARD_TEXT = ["", " ", "it's; DROP TABLE t --", 'say "km"']
UNICODE = ["é", "e\u0301", "簇", "🙂"]  # the first two look alike and are two labels
NEAR = ["a", "A", "a ", "a\u0000"]
YEAR = [date(1969, 12, 31), date(1970, 1, 1), date(1, 1, 1), date(9999, 12, 31)]
INSTANT = datetime(2024, 2, 29, 23, 59, 59, 999999)

TYPES: dict[str, tuple[Callable[[int], Any], Any]] = INTEGERS | {
    "negative": (lambda label: -1 - 5 * label, pl.Int64),
    "least and greatest Int64": (lambda label: [-(2**63), 2**63 - 1, 0, -1][label], pl.Int64),
    "huge, one apart": (lambda label: 2**62 + label, pl.Int64),
    "greatest UInt64": (lambda label: 2**64 - 1 - label, pl.UInt64),
    "text": (lambda label: "abcd"[label], pl.String),
    "text of digits": (lambda label: ["1", "01", "1.0", "10"][label], pl.String),
    "awkward text": (lambda label: AWKWARD_TEXT[label], pl.String),
    "unicode": (lambda label: UNICODE[label], pl.String),
    "text that is nearly the same": (lambda label: NEAR[label], pl.String),
    "text that says null": (lambda label: ["NULL", "null", "nan", "None"][label], pl.String),
    "long text": (lambda label: "x" * 5000 + str(label), pl.String),
    "Categorical": (lambda label: "dcba"[label], pl.Categorical),
    "Enum": (lambda label: "dcba"[label], pl.Enum(["c", "b", "unused", "a", "d"])),
    "Date": (lambda label: YEAR[label], pl.Date),
    "Datetime us": (lambda label: INSTANT + timedelta(microseconds=label), pl.Datetime("us")),
    "Datetime ms": (lambda label: INSTANT + timedelta(days=label), pl.Datetime("ms")),
    "Datetime ns": (lambda label: INSTANT + timedelta(microseconds=label), pl.Datetime("ns")),
    "Datetime with a zone": (
        lambda label: INSTANT.replace(tzinfo=UTC) + timedelta(hours=label),
        pl.Datetime("us", "UTC"),
    ),
    "Time": (lambda label: time(label, 0, 0, 1), pl.Time),
    "Decimal": (lambda label: Decimal(label) / 100 - 1, pl.Decimal(10, 2)),
    "wide Decimal": (lambda label: Decimal(10**30 + label), pl.Decimal(38, 0)),
    "Float64": (lambda label: label / 10 - 0.15, pl.Float64),
    "Float32": (lambda label: label / 10 - 0.15, pl.Float32),
    "floats next to each other": (
        lambda label: [1.0, math.nextafter(1, 2), math.nextafter(1, 0), 5e-324][label],
        pl.Float64,
    ),
    "infinite": (lambda label: [math.inf, -math.inf, 0.0, 1e308][label], pl.Float64),
    "Binary": (lambda label: [b"", b"\x00", b"\xff'", b"a"][label], pl.Binary),
}


def score(frame: pl.DataFrame, **options: Any) -> dict[str, Any]:
    return sv.score(frame, "found", truth="truth", **options).row(0, named=True)


PLAIN = pl.DataFrame({"truth": TRUTH, "found": FOUND})


def assert_same(row: dict[str, Any], expected: dict[str, Any], indices: list[Index]) -> None:
    """1e-12, as groups of another type may be summed in another order."""
    for index in indices:
        value = expected[index.name]
        same = None if value is None else pytest.approx(value, rel=1e-12, abs=1e-12)
        assert row[index.name] == same, index.name
    assert (row["n"], row["k"]) == (expected["n"], expected["k"])


def typed(name: str) -> tuple[pl.Series, pl.Series]:
    of, dtype = TYPES[name]
    return values(TRUTH, of, dtype), values(FOUND, of, dtype)


@pytest.mark.parametrize("name", TYPES)
def test_labels_of_a_type(name: str) -> None:
    _, found = typed(name)

    assert_same(score(PLAIN.with_columns(found=found)), score(PLAIN), UNCHANGED_BY_NAMES)


@pytest.mark.parametrize("name", TYPES)
def test_truth_of_a_type(name: str) -> None:
    truth, _ = typed(name)

    assert_same(score(PLAIN.with_columns(truth=truth)), score(PLAIN), UNCHANGED_BY_NAMES)


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("role", ["truth", "found"])
def test_a_type_beside_floats(role: str, name: str) -> None:
    """Floats may be NaN, which is looked for; a text that reads 'nan' is not one."""
    of_type = dict(zip(("truth", "found"), typed(name), strict=True))
    frame = PLAIN.cast(pl.Float64).with_columns(of_type[role].alias(role))

    assert_same(score(frame), score(PLAIN), UNCHANGED_BY_NAMES)


@pytest.mark.parametrize("name", TYPES)
def test_both_of_a_type(name: str) -> None:
    """The same name for the same number, so that comparison to the letter holds as well."""
    truth, found = typed(name)

    row = score(pl.DataFrame({"truth": truth, "found": found}))

    assert_same(row, score(PLAIN), INDICES)
    assert row["undefined"] == []


@pytest.mark.parametrize("name", TYPES)
def test_pairs_contingency_and_match_of_a_type(name: str) -> None:
    truth, found = typed(name)
    frame = pl.DataFrame({"truth": truth, "found": found})

    counts = sv.pairs(frame, "truth", "found")
    cells = sv.contingency(frame, "truth", "found")
    matched = sv.match(frame, "found", truth="truth")

    assert counts.equals(sv.pairs(PLAIN, "truth", "found"))
    plain_cells = sv.contingency(PLAIN, "truth", "found")
    assert sorted(cells["n"]) == sorted(plain_cells["n"])
    assert set(cells["label"].to_list()) == set(found.to_list())
    assert set(matched["cluster"].to_list()) == set(found.to_list())
    assert matched["n"].sum() == sv.match(PLAIN, "found", truth="truth")["n"].sum()


@pytest.mark.parametrize("name", TYPES)
def test_comparisons_of_a_type(name: str) -> None:
    truth, found = typed(name)
    other = [label % 2 for label in FOUND]
    plain = PLAIN.with_columns(other=pl.Series(other))
    of, dtype = TYPES[name]
    frame = pl.DataFrame({"truth": truth, "found": found, "other": values(other, of, dtype)})

    assert sv.compare(frame, ["found", "other"], truth="truth").equals(
        sv.compare(plain, ["found", "other"], truth="truth")
    )


@pytest.mark.parametrize("name", TYPES)
def test_runs_of_a_type(name: str) -> None:
    """The type of points, too, is free."""
    truth, found = typed(name)
    place = pl.Series(range(len(TRUTH)))
    points = pl.DataFrame({"point": place, "truth": truth})
    runs = pl.DataFrame({"run": ["only"] * len(TRUTH), "point": place, "label": found})

    row = sv.score_runs(runs, points=points, truth="truth").row(0, named=True)

    assert_same(row, score(PLAIN), INDICES)


def test_booleans() -> None:
    truth, found = ([label % 2 for label in column] for column in (TRUTH, FOUND))
    plain = pl.DataFrame({"truth": truth, "found": found})

    row = score(plain.cast(pl.Boolean))

    assert_same(row, score(plain), INDICES)


def test_booleans_that_are_all_true() -> None:
    frame = pl.DataFrame({"truth": TRUTH, "found": [True] * len(TRUTH)})

    row = score(frame)

    assert row["k"] == 1
    assert row["completeness"] == 1


@pytest.mark.parametrize("other", [name for name in TYPES if name != "text"])
def test_columns_of_different_types_in_one_call(other: str) -> None:
    (_, text), (_, found) = typed("text"), typed(other)
    frame = pl.DataFrame({"truth": TRUTH, "a": text, "b": found, "c": FOUND, "d": text})
    names = ["a", "b", "c", "d"]

    together = sv.score(frame, names, truth="truth").to_dicts()

    assert [row["partition"] for row in together] == names
    for row in together:
        alone = sv.score(frame, row["partition"], truth="truth").row(0, named=True)
        assert_same(row, alone, INDICES)
        assert row["undefined"] == alone["undefined"]


def test_comparison_of_columns_of_different_types() -> None:
    names = ["number", "text", "day"]
    columns = [values(FOUND, *TYPES[name]) for name in ("Int64", "text", "Date")]
    plain = pl.DataFrame({"truth": TRUTH} | dict.fromkeys(names, FOUND))
    frame = pl.DataFrame({"truth": TRUTH} | dict(zip(names, columns, strict=True)))

    compared = sv.compare(frame, names, truth="truth")

    assert compared.equals(sv.compare(plain, names, truth="truth"))


def test_labels_to_the_letter_across_types_of_number() -> None:
    """1 and 1.0 and Decimal 1 are the same number, whatever holds them."""
    plain = score(PLAIN)
    for dtype in (pl.Int8, pl.UInt64, pl.Float32, pl.Float64, pl.Decimal(10, 2)):
        row = score(PLAIN.with_columns(pl.col("found").cast(dtype)))

        assert_same(row, plain, INDICES)


def test_labels_to_the_letter_of_large_integers_and_floats() -> None:
    """A float cannot tell 2**53 from 2**53 + 1, so such integers are not compared with floats."""
    frame = pl.DataFrame(
        {"truth": [2**53, 2**53 + 1, 2**53 + 2], "found": [2.0**53, 2.0**53, 2.0**53 + 2]}
    )

    row = score(frame, indices=["matching"])

    for name in ("label_accuracy", "label_recall", "label_precision"):
        assert row[name] is None
        assert any(reason.startswith(f"{name}: ") for reason in row["undefined"])
    row = score(frame.with_columns(pl.col("truth") // 2**40, pl.col("found") // 2**40))
    assert row["label_accuracy"] == 1.0


@pytest.mark.parametrize(
    ("truth", "found"),
    [
        ([0, 0, 1, 1, 2, 2], [0.0, -0.0, 1.0, 1.0, -0.0, 0.0]),
        ([0, 0, 1, 1, 2, 2], [0.0, 0.0, -0.0, -0.0, 1.0, 0.0]),
        ([0.0, -0.0, -0.0, 1.0, 1.0, 1.0], [0.0, -0.0, 5.0, 0.0, 5.0, -0.0]),
        ([-0.0, 1.0, -0.0, 1.0, 2.0, 2.0], [0.0, 0.0, 0.0, 1.0, -0.0, 1.0]),
    ],
)
@pytest.mark.parametrize("dtype", [pl.Float64, pl.Float32])
def test_zero_has_no_sign(truth: list[float], found: list[float], dtype: Any) -> None:
    signed = pl.DataFrame({"truth": truth, "found": found}).with_columns(
        pl.col("found").cast(dtype)
    )
    plain = signed.cast(pl.Int64)

    assert_same(score(signed), score(plain), INDICES)
    assert sv.pairs(signed, "truth", "found").equals(sv.pairs(plain, "truth", "found"))
    matched, expected = (sv.match(f, "found", truth="truth") for f in (signed, plain))
    assert matched["cluster"].cast(pl.Int64).to_list() == expected["cluster"].to_list()
    assert matched["n"].sum() == expected["n"].sum()


@pytest.mark.parametrize("noise", [0, 0.0, -0.0])
@pytest.mark.parametrize("noise_as", ["exclude", "singletons", "cluster"])
def test_noise_that_is_a_signed_zero(noise: float, noise_as: str) -> None:
    signed = pl.DataFrame({"truth": TRUTH, "found": [float(label) for label in FOUND]})
    signed = signed.with_columns(
        found=pl.when(pl.int_range(pl.len()) % 2 == 0)
        .then(pl.col("found"))
        .otherwise(pl.when(pl.col("found") == 0).then(-0.0).otherwise(pl.col("found")))
    )
    options: dict[str, Any] = {"noise": noise, "noise_as": noise_as}

    assert_same(score(signed, **options), score(PLAIN, **options), INDICES)


def test_dictionaries_of_arrow_with_repeated_and_unused_values() -> None:
    """What a dictionary holds beside the labels, or twice, makes no cluster."""
    entries = pa.array(["zero", "one", "two", "three", "unused", "one"])
    codes = pa.array([5 if i % 2 and label == 1 else label for i, label in enumerate(FOUND)])
    table = pa.table(
        {
            "truth": pa.array(TRUTH),
            "found": pa.DictionaryArray.from_arrays(codes.cast(pa.int8()), entries),
        }
    )

    row = sv.score(table, "found", truth="truth").row(0, named=True)

    assert_same(row, score(PLAIN), UNCHANGED_BY_NAMES)


@pytest.mark.parametrize("of", [pa.string(), pa.large_string(), pa.string_view()])
def test_text_of_arrow(of: pa.DataType) -> None:
    table = pa.table(
        {"truth": pa.array(TRUTH), "found": pa.array([f"c{f}" for f in FOUND]).cast(of)}
    )

    row = sv.score(table, "found", truth="truth").row(0, named=True)

    assert_same(row, score(PLAIN), UNCHANGED_BY_NAMES)
