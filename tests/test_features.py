"""Features: how they are given, what they may hold, what is refused."""

from __future__ import annotations

import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sqlvalid as sv
from sqlvalid.errors import BadArgument, BadData, UnknownColumn, UnknownIndex

FLOWERS = ["sepal_length", "sepal_width", "petal_length", "petal_width"]


def iris() -> pl.DataFrame:
    return sv.iris()


def everything(data: Any, features: Any = FLOWERS, labels: Any = "km3", **more: Any) -> Any:
    return sv.score(data, labels, features=features, **more)


EXPECTED = everything(iris())


def same(found: pl.DataFrame, expected: pl.DataFrame = EXPECTED) -> None:
    """The same frame, to the rounding of another order of adding up."""
    assert found.columns == expected.columns
    for left, right in zip(
        found.iter_rows(named=True), expected.iter_rows(named=True), strict=True
    ):
        for name, value in right.items():
            if isinstance(value, float):
                assert left[name] == pytest.approx(value, rel=1e-12, abs=1e-13), name
            else:
                assert left[name] == value, name


@pytest.mark.parametrize(
    "features",
    [FLOWERS, ["sepal_*", "petal_*"], ["?e*l_*"], ["sepal_length", "sepal_*", "petal_*"]],
    ids=str,
)
def test_names_and_globs(features: list[str]) -> None:
    same(everything(iris(), features))


def test_a_glob_leaves_out_what_has_another_role() -> None:
    frame = iris().select(*FLOWERS, "km3", "species")
    found = everything(frame, "*", truth="species").drop("undefined")
    same(found.select(EXPECTED.columns[:-1]), EXPECTED.drop("undefined"))


def forms(tmp_path: Path) -> dict[str, Any]:
    frame = iris()
    file = tmp_path / "iris.parquet"
    frame.write_parquet(file)
    con = duckdb.connect()
    return {
        "frame": frame,
        "lazy": frame.lazy(),
        "arrow": frame.to_arrow(),
        "reader": frame.to_arrow().to_reader(),
        "stream": pa.table(frame).to_reader(max_chunksize=40),
        "pandas": frame.to_pandas(),
        "parquet": file,
        "relation": con.from_arrow(frame.to_arrow()),
    }


@pytest.mark.parametrize(
    "form", ["frame", "lazy", "arrow", "reader", "stream", "pandas", "parquet", "relation"]
)
def test_every_kind_of_data(form: str, way: str, tmp_path: Path) -> None:
    same(everything(forms(tmp_path)[form]))


def test_a_table_and_a_view(way: str) -> None:
    with duckdb.connect() as con:
        con.register("frame", iris())
        con.execute('CREATE TABLE "My points" AS FROM frame')
        con.execute('CREATE VIEW v AS FROM "My points"')
        before = con.sql("SHOW ALL TABLES").fetchall()
        for name in ("My points", "v"):
            same(everything(name, con=con))
        assert con.sql("SHOW ALL TABLES").fetchall() == before


@pytest.mark.parametrize(
    "dtype",
    [pl.Array(pl.Float64, 4), pl.Array(pl.Float32, 4), pl.List(pl.Float64), pl.List(pl.Float32)],
    ids=str,
)
def test_an_embedding(dtype: Any, way: str) -> None:
    frame = iris().with_columns(pl.col(FLOWERS).cast(pl.Float32))
    wide = everything(frame)
    packed = frame.select(
        pl.concat_list(FLOWERS)
        .list.to_array(4)
        .cast(pl.Array(pl.Float64, 4))
        .cast(dtype)
        .alias("e"),
        "km3",
    )
    same(everything(packed, "e"), wide)
    names = sv.centroids(packed, "km3", "e").columns
    assert names == ["partition", "label", "n", "e_1", "e_2", "e_3", "e_4"]


def test_a_table_of_arrays_on_a_connection(way: str) -> None:
    with duckdb.connect() as con:
        con.register("frame", iris())
        values = ", ".join(FLOWERS)
        con.execute(f"CREATE TABLE a AS SELECT [{values}]::DOUBLE[4] AS e, km3 FROM frame")
        con.execute(f"CREATE TABLE l AS SELECT [{values}]::DOUBLE[] AS e, km3 FROM frame")
        con.execute(f"CREATE TABLE d AS SELECT [{values}]::DECIMAL(9,4)[] AS e, km3 FROM frame")
        for name in ("a", "l", "d"):
            same(everything(name, "e", con=con))


def test_integers_decimals_floats_and_booleans_are_numbers(way: str) -> None:
    frame = pl.DataFrame(
        {
            "i": pl.Series([1, 2, 7, 8, 9, 3], dtype=pl.Int8),
            "u": pl.Series([1, 2, 7, 9, 8, 2], dtype=pl.UInt64),
            "d": pl.Series([Decimal(v) / 4 for v in (1, 3, 2, 30, 31, 2)], dtype=pl.Decimal(9, 2)),
            "f": pl.Series([0.5, 1.5, 2.5, 0.25, 3.0, 1.0], dtype=pl.Float32),
            "b": pl.Series([True, False, True, True, False, False]),
            "km": [1, 1, 2, 2, 2, 1],
        }
    )
    names = ["i", "u", "d", "f", "b"]
    floats = frame.with_columns(pl.col(names).cast(pl.Float64))
    same(everything(frame, names, "km"), everything(floats, names, "km"))


def test_whole_numbers_that_floats_cannot_hold(way: str) -> None:
    small = pl.DataFrame(
        {"t": [0, 3, 1, 90, 95, 92], "x": [1, 2, 3, 1, 2, 4], "km": [1, 1, 1, 2, 2, 2]}
    )
    for start in (2**60, -(2**60)):
        same(
            everything(small.with_columns(pl.col("t") + start), ["t", "x"], "km"),
            everything(small, ["t", "x"], "km"),
        )


def test_labels_of_every_type(way: str) -> None:
    frame = iris()
    text = pl.col("km3").cast(pl.String)
    changes = {
        "text": text,
        "enum": text.cast(pl.Enum(["0", "1", "2"])),
        "category": text.cast(pl.Categorical),
        "float": pl.col("km3").cast(pl.Float64) / 2 - 0.5,
        "negative": pl.col("km3").cast(pl.Int64) * -(10**15),
        "boolean": pl.col("km3") > 0,
        "date": pl.date(2020, 1, 1) + pl.duration(days=pl.col("km3")),
        "decimal": (pl.col("km3").cast(pl.Decimal(9, 2))),
    }
    for name, change in changes.items():
        expected = EXPECTED
        if name == "boolean":
            expected = everything(frame.with_columns(km3=(pl.col("km3") > 0).cast(pl.Int8)))
        same(everything(frame.with_columns(km3=change)), expected)


def test_zeros_of_either_sign_are_one_label(way: str) -> None:
    frame = pl.DataFrame({"x": [1.0, 2.0, 7.0, 9.0], "km": [0.0, -0.0, 1.0, 1.0]})
    assert everything(frame, "x", "km")["k"].item() == 2
    assert everything(frame, "x", "km")["trace_w"].item() == 2.5


def test_a_feature_may_have_any_name() -> None:
    names = ['a"b', "select", "x0", "n", "label"]
    rng = np.random.default_rng(3)
    frame = pl.DataFrame({name: rng.normal(size=30) for name in names} | {"l0": [0, 1, 2] * 10})
    plain = frame.rename(dict(zip(names, "vwxyz", strict=True)))
    same(everything(frame, names, "l0"), everything(plain, list("vwxyz"), "l0"))
    with pytest.raises(BadArgument, match="'n', 'label' is the name of a column"):
        sv.centroids(frame, "l0", names)


@pytest.mark.parametrize(
    ("features", "error", "message"),
    [
        ([], BadArgument, "features is empty"),
        ("nope", UnknownColumn, "no column 'nope'"),
        ("petal_lenght", UnknownColumn, "did you mean 'petal_length'"),
        ("zz*", UnknownColumn, "matches 'zz\\*'"),
        ("species", BadData, "'species' is VARCHAR; a feature holds numbers"),
        (["petal_width", "species"], BadData, "'species' is VARCHAR"),
        (["petal_width", "km3"], BadArgument, "as a label column and as a feature"),
        ("km3", BadArgument, "as a label column and as a feature"),
        (7, BadArgument, "features=7"),
        ([3], BadArgument, "features holds 3"),
    ],
)
def test_features_that_are_none(features: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        everything(iris(), features)


def test_a_feature_is_not_the_truth_nor_the_weight() -> None:
    frame = iris().with_columns(w=pl.lit(1), klass=pl.col("km2"))
    with pytest.raises(BadArgument, match="'klass' is given as a feature and as truth"):
        everything(frame, ["klass"], truth="klass")
    with pytest.raises(BadArgument, match="'w' is given as a feature and as weight"):
        everything(frame, ["w"], weight="w")


def test_neither_truth_nor_features() -> None:
    with pytest.raises(BadArgument, match=r"give truth=.* or features="):
        sv.score(iris(), "km3")


def test_an_index_says_what_it_lacks() -> None:
    with pytest.raises(BadArgument, match="'ari': give truth="):
        everything(iris(), indices="ari")
    with pytest.raises(BadArgument, match="'davies_bouldin': give features="):
        sv.score(iris(), "km3", truth="species", indices=["ari", "davies_bouldin"])
    with pytest.raises(UnknownIndex, match="no index 'xyz'"):
        everything(iris(), indices="xyz")


BROKEN = {"NULL": None, "NaN": float("nan"), "inf": float("inf"), "-inf": float("-inf")}


@pytest.mark.parametrize("value", BROKEN.values(), ids=BROKEN)
def test_broken_numbers_are_counted_and_named(value: float | None, way: str) -> None:
    broken = iris().with_columns(
        petal_width=pl.when(pl.int_range(150) % 50 == 7)
        .then(pl.lit(value, dtype=pl.Float64))
        .otherwise("petal_width")
    )
    what = "NULL" if value is None else "NaN or infinite"
    with pytest.raises(BadData, match=f"column 'petal_width' is {what} in 3 rows"):
        everything(broken, indices="calinski_harabasz")
    kept = iris().filter(pl.int_range(150) % 50 != 7)
    same(everything(broken, nulls="drop", truth="species"), everything(kept, truth="species"))
    for verb in (sv.centroids, sv.scatter):
        with pytest.raises(BadData, match="in 3 rows"):
            verb(broken, "km3", FLOWERS)
        assert verb(broken, "km3", FLOWERS, nulls="drop").height > 0


@pytest.mark.parametrize("value", [None, float("nan")], ids=str)
def test_broken_numbers_inside_lists(value: float | None, way: str) -> None:
    rows = [[1.0, 2.0], [2.0, 1.0], [8.0, 9.0], [9.0, 8.0], [1.0, value]]
    frame = pl.DataFrame({"e": rows, "km": [1, 1, 2, 2, 2]})
    for dtype in (pl.List(pl.Float64), pl.Array(pl.Float64, 2)):
        packed = frame.with_columns(pl.col("e").cast(dtype))
        with pytest.raises(BadData, match=r"column 'e' is .* in 1 row;"):
            everything(packed, "e", "km")
        same(everything(packed, "e", "km", nulls="drop"), everything(frame[:4], "e", "km"))
    absent = frame.with_columns(e=pl.when(pl.int_range(5) < 4).then("e"))
    with pytest.raises(BadData, match="column 'e' is NULL in 1 row;"):
        everything(absent, "e", "km")
    same(everything(absent, "e", "km", nulls="drop"), everything(frame[:4], "e", "km"))


def test_lists_of_different_lengths() -> None:
    frame = pl.DataFrame({"e": [[1.0, 2.0], [1.0], [2.0, 3.0]], "km": [1, 1, 2]})
    with pytest.raises(BadData, match="lists of 1 to 2 numbers"):
        everything(frame, "e", "km")
    with pytest.raises(BadData, match="empty lists"):
        everything(frame.with_columns(e=pl.lit([], pl.List(pl.Float64))), "e", "km")


def test_an_array_is_given_alone() -> None:
    frame = pl.DataFrame({"e": [[1.0, 2.0], [1.0, 3.0]], "x": [1.0, 2.0], "km": [1, 2]})
    with pytest.raises(BadArgument, match="'e' is an array, which is given alone"):
        everything(frame, ["e", "x"], "km")
    with pytest.raises(BadData, match="a feature holds numbers"):
        everything(pl.DataFrame({"e": [["a"], ["b"]], "km": [1, 2]}), "e", "km")
    with pytest.raises(BadData, match="a feature holds numbers"):
        everything(pl.DataFrame({"e": [[[1.0]], [[2.0]]], "km": [1, 2]}), "e", "km")


def test_numbers_whose_squares_are_none(way: str) -> None:
    frame = pl.DataFrame({"x": [1e200, -1e200, 2e200, 0.0], "km": [1, 1, 2, 2]})
    with pytest.raises(BadData, match="scale them"):
        everything(frame, "x", "km")


def test_no_rows_are_left() -> None:
    frame = pl.DataFrame(
        {"x": [None, None], "km": [1, 2]}, schema={"x": pl.Float64, "km": pl.Int64}
    )
    with pytest.raises(BadData, match=r"no rows|no usable"):
        everything(frame, "x", "km", nulls="drop")
    with pytest.raises(BadData, match="no rows"):
        everything(frame.clear(), "x", "km")


def test_rows_are_dropped_for_all_indices_alike() -> None:
    frame = iris().with_columns(
        petal_width=pl.when(pl.int_range(150) > 4).then("petal_width"),
        species=pl.when(pl.int_range(150) < 140).then("species"),
        km3=pl.when(pl.int_range(150) != 70).then("km3"),
    )
    found = everything(frame, truth="species", nulls="drop", labels=["km3", "km2"])
    assert found["n"].to_list() == [134, 135]
    whole = frame.drop_nulls([*FLOWERS, "species", "km3"])
    same(
        found[:1].drop("sd_alpha_of", "sd"),
        everything(whole, truth="species").drop("sd_alpha_of", "sd"),
    )


# -- noise, weights, standard deviations ------------------------------------------------------


def test_noise_means_what_it_means_for_external_indices(way: str) -> None:
    frame = iris()
    call = {"features": FLOWERS, "truth": "species"}
    kept = frame.filter(pl.col("dbscan") != -1)
    same(
        sv.score(frame, "dbscan", noise=-1, **call),  # type: ignore[arg-type]
        sv.score(kept, "dbscan", **call),  # type: ignore[arg-type]
    )
    same(
        sv.score(frame, "dbscan", noise=-1, noise_as="cluster", **call),  # type: ignore[arg-type]
        sv.score(frame, "dbscan", **call),  # type: ignore[arg-type]
    )
    alone = pl.when(pl.col("dbscan") == -1).then(1000 + pl.int_range(150)).otherwise("dbscan")
    same(
        sv.score(frame, "dbscan", noise=-1, noise_as="singletons", **call),  # type: ignore[arg-type]
        sv.score(frame.with_columns(dbscan=alone), "dbscan", **call),  # type: ignore[arg-type]
    )


def test_everything_is_noise() -> None:
    frame = pl.DataFrame({"x": [1.0, 2.0, 4.0], "km": [-1, -1, -1]})
    found = everything(frame, "x", "km", noise=-1, noise_as="singletons")
    same(found, everything(frame.with_columns(km=pl.int_range(3)), "x", "km"))
    with pytest.raises(BadData, match="no usable rows"):
        everything(frame, "x", "km", noise=-1)


def test_weights_are_rows(way: str) -> None:
    frame = iris().with_columns(w=(pl.int_range(150) * 7) % 4)
    rows = frame.select(pl.all().repeat_by("w").explode(empty_as_null=False))
    call = {"features": FLOWERS, "truth": "species", "noise": -1, "noise_as": "singletons"}
    same(
        sv.score(frame, ["km3", "dbscan"], weight="w", **call),  # type: ignore[arg-type]
        sv.score(rows, ["km3", "dbscan"], **call),  # type: ignore[arg-type]
    )


def test_standardize_is_as_if_done_before(way: str) -> None:
    frame = iris().with_columns(petal_width=pl.col("petal_width") * 1000 + 1e6)
    before = frame.with_columns(pl.col(FLOWERS) / pl.col(FLOWERS).std(ddof=0))
    noise = {"noise": -1, "labels": ["km3", "dbscan"]}
    same(everything(frame, standardize=True, **noise), everything(before, **noise))
    same(
        sv.centroids(frame, "km3", FLOWERS, standardize=True),
        sv.centroids(before, "km3", FLOWERS),
    )
    flat = frame.with_columns(one=pl.lit(3.0))
    found = everything(flat, [*FLOWERS, "one"], standardize=True, indices=["trace_w", "sswc"])
    assert found["trace_w"].item() == pytest.approx(everything(before)["trace_w"].item())


# -- clusters that are hard to measure --------------------------------------------------------


@pytest.mark.parametrize("k", [1, 20], ids=["one cluster", "singletons"])
def test_trivial_partitions(k: int, way: str) -> None:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"x": rng.normal(size=20), "y": rng.normal(size=20)})
    found = everything(frame.with_columns(km=pl.int_range(20) % k), ["x", "y"], "km")
    values = found.drop("partition", "n", "k", "undefined", "sd_alpha_of").row(0, named=True)
    told = {reason.split(":")[0] for reason in found["undefined"].item()}
    assert {name for name, value in values.items() if value is None} == told
    if k == 1:
        assert set(values.values()) == {None}
    else:
        assert values["trace_w"] == values["silhouette_simplified"] == 0.0
        assert values["davies_bouldin"] == 0.0
        assert values["calinski_harabasz"] is None


def test_constant_features(way: str) -> None:
    frame = iris().with_columns(one=pl.lit(0.1), two=pl.lit(7))
    found = everything(frame, [*FLOWERS, "one", "two"])
    for name in ("det_ratio", "log_det_ratio", "trace_wib", "ratkowsky_lance", "c_over_sqrt_k"):
        assert found[name].item() is None, name
    assert found["ksq_detw"].item() == 0.0
    for name in ("trace_w", "calinski_harabasz", "davies_bouldin", "silhouette_squared", "pbm"):
        assert found[name].item() == pytest.approx(EXPECTED[name].item(), rel=1e-12)


def test_a_feature_that_is_constant_in_every_cluster(way: str) -> None:
    rng = np.random.default_rng(1)
    km = np.repeat([0, 1, 2], 40)
    frame = pl.DataFrame({"x": rng.normal(size=120), "y": np.array([0.1, 0.7, 1.3])[km], "km": km})
    found = everything(frame, ["x", "y"], "km")
    assert found["det_ratio"].item() is None
    assert "singular" in " ".join(found["undefined"].item())


def test_features_that_depend_on_each_other(way: str) -> None:
    rng = np.random.default_rng(2)
    frame = pl.DataFrame(
        {"x": rng.normal(size=99), "y": rng.normal(size=99) + 1e3, "km": [0, 1, 2] * 33}
    )
    frame = frame.with_columns(z=pl.col("x") * 3 - pl.col("y") / 7)
    found = everything(frame, ["x", "y", "z"], "km")
    assert found["log_det_ratio"].item() is None
    assert found["scott_symons"].item() is None


def test_more_features_than_points(way: str) -> None:
    rng = np.random.default_rng(4)
    names = [f"x{j}" for j in range(40)]
    frame = pl.DataFrame(rng.normal(size=(30, 40)), schema=names).with_columns(
        km=pl.int_range(30) % 3
    )
    found = everything(frame, names, "km")
    assert found["trace_wib"].item() is None
    assert found["calinski_harabasz"].item() is not None


def test_a_hundred_features_neither_under_nor_overflow(way: str) -> None:
    rng = np.random.default_rng(5)
    names = [f"x{j}" for j in range(100)]
    x = rng.normal(size=(900, 100))
    for factor in (1e-6, 1e6):
        frame = pl.DataFrame(x * factor, schema=names).with_columns(km=pl.int_range(900) % 3)
        found = everything(frame, names, "km")
        w = sum(np.cov((x * factor)[k::3].T, bias=True) * 300 for k in range(3))
        t = np.cov((x * factor).T, bias=True) * 900
        expected = np.linalg.slogdet(t)[1] - np.linalg.slogdet(w)[1]
        assert found["log_det_ratio"].item() == pytest.approx(900 * expected, rel=1e-9)
        assert found["det_ratio"].item() == pytest.approx(np.exp(expected), rel=1e-9)
        assert found["scott_symons"].item() is not None
        assert found["ksq_detw"].item() is None
        assert any("outside the range" in reason for reason in found["undefined"].item())


def test_far_from_zero(way: str) -> None:
    frame = iris().with_columns((pl.col(FLOWERS) * 1024).round() / 1024)
    near, far = everything(frame), everything(frame.with_columns(pl.col(FLOWERS) + 1e8))
    for name in near.columns[3:]:
        if near.schema[name] == pl.Float64 and near[name].item() is not None:
            assert far[name].item() == pytest.approx(near[name].item(), rel=1e-9), name


def test_the_first_rows_are_far_from_the_others(way: str) -> None:
    rng = np.random.default_rng(6)
    x = np.concatenate([np.full(1200, 1e9), rng.normal(size=200_000)])
    frame = pl.DataFrame({"x": x, "km": np.arange(len(x)) % 2})
    found = everything(frame, "x", "km", indices=["trace_w", "ch"])
    halves = [x[0::2], x[1::2]]
    w = sum(float(((h - h.mean()) ** 2).sum()) for h in halves)
    assert found["trace_w"].item() == pytest.approx(w, rel=1e-9)


def test_points_in_one_place_have_no_scatter(way: str) -> None:
    frame = pl.DataFrame(
        {"x": [0.1] * 50 + [0.7] * 49 + [-3.3] * 51, "km": [0] * 50 + [1] * 49 + [2] * 51}
    )
    found = everything(frame, "x", "km")
    assert found["trace_w"].item() == 0.0
    assert found["calinski_harabasz"].item() is None
    assert found["banfeld_raftery"].item() is None


# -- tables -----------------------------------------------------------------------------------


def test_centroids_of_several_columns(way: str) -> None:
    frame = iris().with_columns(name=pl.col("km2").cast(pl.String))
    found = sv.centroids(frame, ["km3", "name"], FLOWERS)
    assert found["label"].dtype == pl.String
    assert found["partition"].to_list() == ["km3"] * 3 + ["name"] * 2
    expected = frame.group_by("km3").agg(pl.len(), pl.col(FLOWERS).mean()).sort("km3")
    assert found[:3]["n"].to_list() == expected["len"].to_list()
    for name in FLOWERS:
        assert found[:3][name].to_list() == pytest.approx(expected[name].to_list(), rel=1e-13)


def test_centroids_of_noise_points() -> None:
    frame = pl.DataFrame({"x": [1.0, 3.0, 50.0], "km": [1, 1, -1]})
    found = sv.centroids(frame, "km", "x", noise=-1, noise_as="singletons")
    assert found.rows() == [("km", 1, 2, 2.0), ("km", None, 1, 50.0)]


def test_scatter_of_one_cluster_and_of_few_points(way: str) -> None:
    one = sv.scatter(pl.DataFrame({"x": [1.0, 2.0, 6.0], "km": [1, 1, 1]}), "km", "x")
    assert one.select("matrix", "trace", "determinant").rows() == [
        ("W", 14.0, pytest.approx(14.0)),
        ("B", 0.0, 0.0),
        ("T", 14.0, pytest.approx(14.0)),
    ]
    assert one["log_determinant"].to_list()[1] is None


def test_sd_says_where_alpha_comes_from() -> None:
    found = sv.score(
        iris(), ["km2", "km5", "km3"], features=FLOWERS, indices=["sd", "sd_scat", "sd_dis"]
    )
    assert found.columns[3:5] == ["sd", "sd_alpha_of"]
    assert found["sd_alpha_of"].to_list() == ["km5"] * 3
    alpha = found["sd_dis"][1]
    expected = alpha * found["sd_scat"] + found["sd_dis"]
    assert found["sd"].to_list() == pytest.approx(expected.to_list(), rel=1e-14)


def test_the_namespace() -> None:
    frame = iris()
    same(frame.sv.score("km3", features=FLOWERS))
    same(frame.lazy().sv.centroids("km3", FLOWERS), sv.centroids(frame, "km3", FLOWERS))
    same(frame.sv.scatter("km3", FLOWERS), sv.scatter(frame, "km3", FLOWERS))


def test_undefined_can_be_an_error() -> None:
    frame = pl.DataFrame({"x": [1.0, 2.0], "km": [1, 1]})
    with pytest.raises(sv.SqlvalidError, match="there is one cluster"):
        everything(frame, "x", "km", undefined="raise")


def test_pandas_with_missing_values() -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0, np.nan, 9.0], "km": [1, 1, 2, 2]})
    with pytest.raises(BadData, match="column 'x' is N"):
        everything(frame, "x", "km")
    assert everything(frame, "x", "km", nulls="drop")["n"].item() == 3


# -- what takes long must be named ------------------------------------------------------------


def score_module() -> Any:
    return sys.modules["sqlvalid.score"]


def test_many_features_leave_out_determinants(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score_module(), "DEAR_FEATURES", 3)
    found = everything(iris(), undefined="raise")
    assert "det_ratio" not in found.columns
    assert "trace_w" in found.columns
    (note,) = found["undefined"].item()
    assert note.startswith("left out: det_ratio, log_det_ratio, ")
    assert "10 products of features" in note
    assert "indices=" in note
    assert everything(iris(), indices="det_ratio")["det_ratio"].item() is not None


def test_many_clusters_leave_out_distances_to_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score_module(), "DEAR_DISTANCES", 400)
    found = everything(iris())
    assert "silhouette_simplified" not in found.columns
    assert "4.5e+02 distances" in found["undefined"].item()[0]
    frame = iris().with_row_index("id").with_columns(run=pl.lit(1), label="km3")
    runs = sv.score_runs(frame, points=frame, point="id", features=FLOWERS)
    assert runs.columns[1:] == found.columns[1:]


# -- every way refuses alike ------------------------------------------------------------------


@pytest.mark.parametrize("value", [None, float("nan"), 1e300], ids=str)
def test_broken_numbers_of_noise_are_refused_too(value: float | None, way: str) -> None:
    broken = pl.when(pl.col("dbscan") == -1).then(pl.lit(value, dtype=pl.Float64))
    frame = iris().with_columns(petal_width=broken.otherwise("petal_width"))
    for standardize in (False, True):
        with pytest.raises(BadData, match=r"in \d+ rows|scale them"):
            everything(frame, labels="dbscan", noise=-1, standardize=standardize)


def test_heavy_weights(way: str) -> None:
    rng = np.random.default_rng(8)
    w = rng.integers(2**40, 2**51, 300) * 2 + 1
    frame = pl.DataFrame({"x": rng.normal(size=300), "km": rng.integers(0, 3, 300), "w": w})
    found = everything(frame, "x", "km", weight="w", indices=["trace_w", "ch"])
    x, km = frame["x"].to_numpy(), frame["km"].to_numpy()
    means = [np.average(x[km == k], weights=w[km == k]) for k in range(3)]
    expected = sum((w[km == k] * (x[km == k] - means[k]) ** 2).sum() for k in range(3))
    assert found["trace_w"].item() == pytest.approx(expected, rel=1e-12)


def test_weights_do_not_make_a_call_dear() -> None:
    found = everything(iris().with_columns(w=pl.lit(10**12)), weight="w")
    assert "silhouette_simplified" in found.columns


def test_runs_refuse_what_score_refuses() -> None:
    frame = iris().with_row_index("point").with_columns(run=pl.lit(1), label="km3")
    for factor, message in ((1e200, "scale them"), (1e-160, "scale them"), (1e-170, "scale them")):
        broken = frame.with_columns(pl.col(FLOWERS) * factor)
        for call in (
            lambda broken=broken: everything(broken),
            lambda broken=broken: sv.score_runs(broken, points=broken, features=FLOWERS),
        ):
            with pytest.raises(BadData, match=message):
                call()
    nan = frame.with_columns(run=pl.lit(float("nan")))
    with pytest.raises(BadData, match="column 'run' is NaN"):
        sv.score_runs(nan, points=frame, features=FLOWERS)


def test_decimals_that_floats_cannot_hold(way: str) -> None:
    with duckdb.connect() as con:
        rows = "SELECT (i * i)::DECIMAL(38, 4) + 900719925474099300 AS x, i % 3 AS km"
        con.execute(f"CREATE TABLE far AS {rows} FROM range(30) t(i)")
        con.execute("CREATE TABLE near AS SELECT x - 900719925474099300 AS x, km FROM far")
        con.execute("CREATE TABLE lists AS SELECT [x::BIGINT] AS x, km FROM far")
        con.execute("CREATE TABLE vast AS SELECT x::UHUGEINT AS x, km FROM far")
        same(everything("far", "x", "km", con=con), everything("near", "x", "km", con=con))
        with pytest.raises(BadData, match=r"beyond 2\*\*53"):
            everything("lists", "x", "km", con=con)
        with pytest.raises(BadData, match="'x' is UHUGEINT"):
            everything("vast", "x", "km", con=con)


@pytest.mark.parametrize(
    ("dtype", "noise"),
    [(pl.UInt8, -1), (pl.Int8, 300), (pl.Int64, 0.5), (pl.Int64, 2**70), (pl.Decimal(9, 2), 2)],
    ids=str,
)
def test_noise_that_a_column_may_not_hold(dtype: Any, noise: Any, way: str) -> None:
    frame = iris().with_columns(pl.col("km3").cast(dtype))
    found = everything(frame, noise=noise, noise_as="singletons")
    alone = pl.when(pl.col("km3") == 2).then(100 + pl.int_range(150)).otherwise("km3")
    same(found, everything(iris().with_columns(km3=alone)) if noise == 2 else EXPECTED)


def test_labels_beyond_63_bits(way: str) -> None:
    frame = iris().with_columns(km3=pl.col("km3").cast(pl.UInt64) + 2**63)
    same(everything(frame))


@pytest.mark.parametrize("verb", [sv.centroids, sv.scatter])
def test_tables_of_noise_only(verb: Any) -> None:
    frame = iris().with_columns(km3=pl.lit(-1))
    with pytest.raises(BadData, match="no usable rows are left for 'km3'"):
        verb(frame, "km3", FLOWERS, noise=-1)


def test_too_many_singletons() -> None:
    frame = iris().with_columns(w=pl.when(pl.col("dbscan") == -1).then(10**11).otherwise(1))
    with pytest.raises(BadData, match="too many to be clusters of their own"):
        everything(frame, labels="dbscan", weight="w", noise=-1, noise_as="singletons")


def test_standardize_is_yes_or_no() -> None:
    with pytest.raises(BadArgument, match="give True or False"):
        everything(iris(), standardize="yes")
    with pytest.raises(BadArgument, match="needs features="):
        sv.score(iris(), "km3", truth="species", standardize=True)


def test_integer_labels_stay_integers() -> None:
    frame = iris().with_columns(pl.col("km2").cast(pl.Int16))
    assert sv.centroids(frame, ["km2", "km3"], FLOWERS)["label"].dtype == pl.Int64


def test_many_clusters(way: str) -> None:
    rng = np.random.default_rng(9)
    n, k = 3000, 700
    x, km = rng.normal(size=(n, 2)), rng.integers(0, k, n)
    frame = pl.DataFrame(x, schema=["x", "y"]).with_columns(km=km)
    found = everything(frame, ["x", "y"], "km", indices=["s_dbw", "sswc", "db", "spark_silhouette"])
    packed = pl.DataFrame(x, schema=["x", "y"]).with_columns(
        km=np.unique(km, return_inverse=True)[1]
    )
    same(
        found,
        everything(packed, ["x", "y"], "km", indices=["s_dbw", "sswc", "db", "spark_silhouette"]),
    )
    near = np.array([x[km == c].mean(axis=0) for c in np.unique(km)])
    codes = np.unique(km, return_inverse=True)[1]
    apart = np.sqrt(((x[:, None, :] - near) ** 2).sum(axis=2))
    own = apart[np.arange(n), codes]
    apart[np.arange(n), codes] = np.inf
    other = apart.min(axis=1)
    alone = np.bincount(codes)[codes] == 1
    expected = np.where(alone, 0.0, (other - own) / np.maximum(own, other)).mean()
    assert found["silhouette_simplified"].item() == pytest.approx(expected, rel=1e-12)
