"""The figures that the source documents print, computed again.

`data/figures.json` holds each figure as printed, the value that its formula gives in
plain numpy (`reproduced`), and whether the two match; where they do not (a misprint, a
figure cut instead of rounded) the reproduced value is the reference alone. A figure in
the file that nothing here computes is a failure, so none can be left out unseen.
"""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sqlvalid as sv

DATA = Path(__file__).parent / "data"
COMPONENTS = ["pc1", "pc2"]  # the features of iris_pc.csv
Values = dict[str, float]


def figures() -> list[dict[str, Any]]:
    """The figures, one value each: Table III keeps three under one name."""
    flat = []
    for figure in json.loads((DATA / "figures.json").read_text()):
        value = figure["reproduced"]
        parts = value.items() if isinstance(value, dict) else [(None, value)]
        for part, each in parts:
            name = figure["id"] if part is None else f"{figure['id']}.{part}"
            flat.append(figure | {"id": name, "reproduced": each})
    return flat


FIGURES = figures()


@cache
def iris() -> pl.DataFrame:
    return pl.read_csv(DATA / "iris_pc.csv")


@cache
def prayatul() -> pl.DataFrame:
    return pl.read_csv(DATA / "prayatul_labels.csv")


def scored(frame: pl.DataFrame, labels: str, **options: Any) -> dict[str, Any]:
    return sv.score(frame, labels, truth="truth", **options).row(0, named=True)


def clusterwise(clustering: str) -> Values:
    """Precision, recall and F of each cluster with its majority class (Z 17.1)."""
    cells = sv.contingency(iris(), "truth", clustering)
    classes = dict(cells.group_by("truth").agg(pl.col("n").sum()).rows())
    values = {}
    for (cluster,), of_cluster in cells.group_by("label"):
        best = of_cluster.sort("n").row(-1, named=True)
        size, of_class = of_cluster["n"].sum(), classes[best["truth"]]
        values[f"prec{cluster}"] = best["n"] / size
        values[f"recall{cluster}"] = best["n"] / of_class
        values[f"F{cluster}"] = 2 * best["n"] / (size + of_class)
    return values


def within(clustering: str, cluster: int) -> float:
    """Entropy of the truth inside one cluster, in bits (Z 17.2)."""
    inside = iris().filter(pl.col(clustering) == cluster)
    return float(scored(inside, clustering, log_base=2)["h_truth"])


def zaki(clustering: str) -> Values:
    row = scored(iris(), clustering, log_base=2)
    yy, yn, ny, nn = sv.pairs(iris(), "truth", clustering).row(0)
    total = yy + yn + ny + nn
    contingency = clusterwise(clustering) | {
        "purity": row["purity"],
        "purity_text": row["purity"],
        "match": row["max_matching"],
        "F": row["cluster_f"],
        "F_text": row["cluster_f"],
    }
    entropy = {
        "HT": row["h_truth"],
        "HC": row["h_labels"],
        "I": row["mutual_information"],
        "HTC": row["conditional_entropy"],
        "HTC_text": row["conditional_entropy"],
        "NMI": row["nmi"],
        "VI": row["vi"],
    } | {f"H_T_C{c}": within(clustering, c) for c in (1, 2, 3)}
    pairwise = {"TP": yy, "FN": yn, "FP": ny, "TN": nn} | {
        "Jaccard": row["jaccard"],
        "Rand": row["rand"],
        "FM": row["folkes_mallows"],
    }
    correlation = {
        "muT": (yy + yn) / total,
        "muC": (yy + ny) / total,
        "Gamma": row["russel_rao"],
        "Gamma_n": row["hubert"],
    }
    examples = {"17.1": contingency, "17.2": entropy, "17.3": pairwise, "17.4": correlation}
    return {
        f"zaki.{example}.{clustering}.{name}": value
        for example, values in examples.items()
        for name, value in values.items()
    }


VARIANTS = {
    "f_pairwise_000": "czekanowski_dice",
    "f_clusterwise_003": "cluster_f",
    "phi_000": "phi",
    "phi_sqrt": "hubert",
    "nmi_sqrt": "nmi",
    "nmi_arith": "nmi_arithmetic",
    "nmi_min": "nmi_min",
    "nmi_max": "nmi_max",
    "ami_arith": "ami",
    "ari": "ari",
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


def variants(clustering: str) -> Values:
    row = scored(iris(), clustering, features=COMPONENTS)
    return {f"variant.iris_{clustering}.{name}": row[index] for name, index in VARIANTS.items()}


def separation(frame: pl.DataFrame, labels: str) -> float:
    """Davies-Bouldin as Z has it."""
    scores = sv.score(frame, labels, features=COMPONENTS, indices="davies_bouldin_rms")
    return float(scores["davies_bouldin_rms"].item())


def dispersion(cluster: int) -> float:
    """The root mean squared distance of the points of a good cluster to its mean (Z 17.2)."""
    inside = iris().filter(pl.col("good") == cluster)
    within = sv.scatter(inside, "good", COMPONENTS).filter(pl.col("matrix") == "W")
    return math.sqrt(within["trace"][0] / len(inside))


def zaki_centroids() -> Values:
    """Example 17.6: the means, and the Davies-Bouldin index of the clusters two by two."""
    rows = sv.centroids(iris(), "good", COMPONENTS).rows_by_key("label", named=True, unique=True)
    means = {c: [rows[c][name] for name in COMPONENTS] for c in (1, 2, 3)}
    values = {"dist12": math.dist(means[1], means[2]), "DB": separation(iris(), "good")}
    for c, (x, y) in means.items():
        values |= {f"mu{c}.x": x, f"mu{c}.y": y, f"sigma{c}": dispersion(c)}
    for pair in ((1, 2), (1, 3), (2, 3)):
        two = iris().filter(pl.col("good").is_in(pair))
        values["DB{}{}".format(*pair)] = separation(two, "good")
    for clustering in ("good", "bad"):
        values[f"table.{clustering}.DB"] = separation(iris(), clustering)
    return {f"zaki.17.6.{name}": value for name, value in values.items()}


def zaki_variance_ratios() -> Values:
    """Example 17.8: the index of the best k-means for each k, its second differences, S_W, S_B."""
    frame = iris().hstack(pl.read_csv(DATA / "iris_kmeans.csv"))
    scores = sv.score(frame, "k*", features=COMPONENTS, indices="calinski_harabasz")
    ch = dict(scores.select("partition", "calinski_harabasz").rows())
    values = {f"CH{k}": ch[f"k{k}"] for k in range(2, 10)}
    for k in range(3, 9):
        values[f"Delta{k}"] = ch[f"k{k + 1}"] - 2 * ch[f"k{k}"] + ch[f"k{k - 1}"]
    place = {name: j for j, name in enumerate(COMPONENTS, start=1)}
    for row in sv.scatter(iris(), "good", COMPONENTS).to_dicts():
        name = f"S{row['matrix']}{place[row['feature']]}{place[row['other']]}"
        values[name] = row["value"]
    return {f"zaki.17.8.{name}": value for name, value in values.items()}


def chung() -> Values:
    frame = pl.DataFrame({"truth": [1, 1, 1, 2, 2, 3, 3], "found": [1, 1, 2, 1, 1, 3, 3]})
    return {"chung.accuracy": scored(frame, "found")["max_matching"]}


def vendramin() -> Values:
    frame = pl.DataFrame({"truth": [1] * 4 + [2] * 4, "found": [2, 2, 2, 1, 1, 1, 3, 3]})
    row = scored(frame, "found")
    counts = dict(zip("abcd", sv.pairs(frame, "truth", "found").row(0), strict=True))
    values = counts | {name: row[name] for name in ("rand", "ari", "jaccard")}
    return {f"vendramin.Fig5.{name}": value for name, value in values.items()}


DATASETS = {"NC": "noisy_circles", "NM": "noisy_moons", "NS": "aniso"}
ALGORITHMS = {"birch": "BIRCH", "dbscan": "DBSCAN", "kmeans": "KMeans", "spectral": "Spectral"}
MEASURES = {
    "sigma_c": "comparative_deviation",
    "alpha": "polarization",
    "xi_c": "comparative_rightness",
    "xi_e": "effective_rightness",
    "phi_e": "effective_superiority",
}


def dataset(code: str) -> pl.DataFrame:
    return prayatul().filter(pl.col("dataset") == DATASETS[code])


def prayatul_comparisons(code: str) -> Values:
    rows = sv.compare(dataset(code), list(ALGORITHMS), truth="truth").to_dicts()
    return {
        f"prayatul.T1.{ALGORITHMS[row['primary']]}_vs_{ALGORITHMS[row['alternative']]}"
        f".{code}.{printed}": row[name]
        for row in rows
        for printed, name in MEASURES.items()
    }


def of_class_one(frame: pl.DataFrame, labels: str) -> tuple[float, float]:
    """Precision and recall of class 1, which is all P prints for data of two classes.

    A class that no point is given has precision 0 there.
    """
    cells = sv.contingency(frame, "truth", labels)

    def points(*conditions: pl.Expr) -> int:
        return int(cells.filter(*conditions)["n"].sum())

    is_one, called_one = pl.col("truth") == 1, pl.col("label") == 1
    hits = points(is_one, called_one)
    return hits / max(points(called_one), 1), hits / points(is_one)


def prayatul_scores(code: str) -> Values:
    frame = dataset(code)
    values: Values = {}
    for row in sv.score(frame, list(ALGORITHMS), truth="truth").to_dicts():
        algorithm = ALGORITHMS[row["partition"]]
        precision, recall = row["label_precision"], row["label_recall"]
        if code != "NS":
            precision, recall = of_class_one(frame, row["partition"])
        literal = {"acc": row["label_accuracy"], "prec": precision, "rec": recall}
        chance = {"NMI": row["nmi_arithmetic"], "ARI": row["ari"], "AMI": row["ami"]}
        values |= {f"prayatul.T2.{code}.{algorithm}.{name}": v for name, v in literal.items()}
        values |= {f"prayatul.T3.{code}.{algorithm}.{name}": v for name, v in chance.items()}
    return values


@pytest.fixture(scope="module")
def computed() -> Values:
    values = chung() | vendramin() | zaki_centroids() | zaki_variance_ratios()
    for clustering in ("good", "bad"):
        values |= zaki(clustering) | variants(clustering)
    for code in DATASETS:
        values |= prayatul_comparisons(code) | prayatul_scores(code)
    return values


def test_every_figure_is_computed(computed: Values) -> None:
    assert len(FIGURES) == len({figure["id"] for figure in FIGURES})
    assert {figure["id"] for figure in FIGURES} - set(computed) == set()


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure["id"])
def test_figure(figure: dict[str, Any], computed: Values) -> None:
    assert figure["id"] in computed, "this figure has no mapping"
    value = computed[figure["id"]]

    if figure["match"]:
        # Half a unit of the last printed digit (in P a whole one); 1e-12 is for its binary form.
        assert value == pytest.approx(figure["printed"], rel=0, abs=figure["tolerance"] + 1e-12)
    assert value == pytest.approx(figure["reproduced"], **precision_of(figure))


def precision_of(figure: dict[str, Any]) -> dict[str, float]:
    """The reproduced values of variants and of Table III are full doubles, others 8 decimals.

    Those of k-means for each k have four decimals, their second differences three, and the
    between scatter of the components in the data agrees with eight digits of its figures.
    """
    if figure["id"].startswith("zaki.17.8.CH"):
        return {"rel": 0.0, "abs": 1e-4}
    if figure["id"].startswith("zaki.17.8.Delta"):
        return {"rel": 0.0, "abs": 1e-3}
    if figure["id"].startswith("zaki.17.8.SB"):
        return {"rel": 1e-8, "abs": 0.0}
    if figure["id"].startswith(("variant.", "prayatul.T3.")):
        # 1e-12 for scikit-learn's expected mutual information, by log-gamma of 1500.
        return {"rel": 1e-9, "abs": 1e-12 if figure["id"].startswith("prayatul") else 0.0}
    return {"rel": 0.0, "abs": 0.5e-8 + 1e-14}


def test_misprints_are_still_misprints(computed: Values) -> None:
    """A figure marked as not matching does not match; else the mark hides a comparison."""
    for figure in FIGURES:
        if figure["match"] is False:
            unit = figure["tolerance"] if figure["document"] != "001" else figure["tolerance"] / 2
            assert abs(computed[figure["id"]] - figure["printed"]) > unit, figure["id"]
