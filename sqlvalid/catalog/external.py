"""The external indices: a truth column and a label column.

Sources: D = Desgraupes, clusterCrit (2017); P = Biswas, Prayatul matrix (2023);
C = Chung, clustering accuracy; Z = Zaki & Meira, chapter 17; V = Vendramin, Campello
& Hruschka (2010). The numbers are their equations.

yy, yn, ny, nn count pairs of points, truth first: together in both, in the truth
only, in the labels only, in neither.
"""

from __future__ import annotations

import math
from dataclasses import replace

from sqlvalid.catalog.index import Index, Undefined

_NO_PAIR = Undefined("n < 2", "one point makes no pair")
_ALONE_LABELS = Undefined("yy + ny = 0", "no two points share a cluster")
_ALONE_TRUTH = Undefined("yy + yn = 0", "no two points share a true class")
_ALONE_BOTH = Undefined("yy + yn + ny = 0", "no two points share a cluster or a true class")
_ONE_LABEL = Undefined("yn + nn = 0", "all points are in one cluster")
_ONE_TRUTH = Undefined("ny + nn = 0", "all points are in one true class")
_ALL_AGREE = Undefined("yn + ny = 0", "the partitions do not disagree on any pair")
_CONSTANT = (_NO_PAIR, _ALONE_TRUTH, _ALONE_LABELS, _ONE_TRUTH, _ONE_LABEL)

_CLUSTERCRIT = ("clustercrit",)


def _pairs(name: str, source: str, formula: str, about: str, **more: object) -> Index:
    row: dict[str, object] = {"rule": "max", "groups": _CLUSTERCRIT, "swapped": name} | more
    return Index(name, "pairs", source, formula, about, **row)  # type: ignore[arg-type]


PAIRS = (
    _pairs(
        "precision",
        "D 112",
        "yy / (yy + ny)",
        "Of the pairs that the labels put together, the share that is together in the truth.",
        aliases=("pair_precision",),
        undefined=(_NO_PAIR, _ALONE_LABELS),
        swapped="recall",
    ),
    _pairs(
        "recall",
        "D 113",
        "yy / (yy + yn)",
        "Of the pairs together in the truth, the share that the labels put together.",
        aliases=("pair_recall",),
        undefined=(_NO_PAIR, _ALONE_TRUTH),
        swapped="precision",
    ),
    _pairs(
        "czekanowski_dice",
        "D 115, 122",
        "2 * yy / (2 * yy + yn + ny)",
        "The harmonic mean of precision and recall: the pairwise F1.",
        aliases=("pair_f1", "dice"),
        undefined=(_NO_PAIR, _ALONE_BOTH),
    ),
    _pairs(
        "pair_f",
        "D 116",
        "(1 + {alpha}) * yy / ((1 + {alpha}) * yy + {alpha} * yn + ny)",
        "The F-measure of precision and recall with weight alpha > 0, written pair_f(alpha).",
        parameter="alpha",
        groups=(),
        swapped=None,
        undefined=(_NO_PAIR, _ALONE_BOTH),
    ),
    _pairs(
        "folkes_mallows",
        "D 124, Z 17.13",
        "yy / SQRT((yy + yn) * (yy + ny))",
        "The geometric mean of precision and recall.",
        aliases=("fowlkes_mallows", "fmi", "fowlkes_mallows_score"),
        groups=("clustercrit", "zaki", "sklearn"),
        undefined=(_NO_PAIR, _ALONE_TRUTH, _ALONE_LABELS),
    ),
    _pairs(
        "hubert",
        "D 127, Z 17.21",
        "pair_determinant / SQRT((yy + yn) * (yy + ny)) / SQRT((nn + yn) * (nn + ny))",
        "The correlation over pairs of being together in the truth and in the labels.",
        aliases=("hubert_gamma_external", "normalized_hubert"),
        groups=("clustercrit", "zaki"),
        lower=-1.0,
        undefined=_CONSTANT,
    ),
    _pairs(
        "jaccard",
        "D 128, Z 17.11, V 53",
        "yy / (yy + yn + ny)",
        "Of the pairs together in either partition, the share together in both.",
        groups=("clustercrit", "zaki"),
        undefined=(_NO_PAIR, _ALONE_BOTH),
    ),
    _pairs(
        "kulczynski",
        "D 129",
        "(yy / (yy + ny) + yy / (yy + yn)) / 2",
        "The arithmetic mean of precision and recall.",
        undefined=(_NO_PAIR, _ALONE_TRUTH, _ALONE_LABELS),
    ),
    _pairs(
        "mcnemar",
        "D 131",
        "(yn - ny) / SQRT(yn + ny)",
        "McNemar's statistic: which partition puts more pairs together, in standard errors.",
        rule="zero",
        lower=-math.inf,
        upper=math.inf,
        perfect=None,
        swapped="-mcnemar",
        undefined=(_NO_PAIR, _ALL_AGREE),
    ),
    _pairs(
        "mcnemar_chi2",
        "D 2.4.6",
        "(yn - ny) * (yn - ny) / (yn + ny)",
        "The square of mcnemar: chi-squared with one degree of freedom when disagreement is even.",
        rule="min",
        groups=(),
        upper=math.inf,
        perfect=None,
        undefined=(_NO_PAIR, _ALL_AGREE),
    ),
    _pairs(
        "mcnemar_p",
        "D 2.4.6",
        "chi2_tail",
        "The p-value of mcnemar_chi2.",
        groups=(),
        perfect=None,
        undefined=(_NO_PAIR, _ALL_AGREE),
    ),
    _pairs(
        "phi",
        "D 132",
        "pair_determinant / ((yy + yn) * (yy + ny)) / ((yn + nn) * (ny + nn))",
        "D's Phi exactly as printed, without the square root (the rooted coefficient is hubert).",
        lower=-1.0,
        perfect=None,
        undefined=_CONSTANT,
    ),
    _pairs(
        "rand",
        "D 133, Z 17.12, V 51",
        "(yy + nn) / (yy + yn + ny + nn)",
        "The share of pairs on which truth and labels agree.",
        aliases=("rand_score",),
        groups=("clustercrit", "zaki", "sklearn"),
        undefined=(_NO_PAIR,),
    ),
    _pairs(
        "rogers_tanimoto",
        "D 134",
        "(yy + nn) / (yy + nn + 2 * (yn + ny))",
        "The Rand index with disagreements counted twice.",
        undefined=(_NO_PAIR,),
    ),
    _pairs(
        "russel_rao",
        "D 135, Z 17.16",
        "yy / (yy + yn + ny + nn)",
        "The share of all pairs that is together in both partitions.",
        aliases=("discretized_hubert",),
        groups=("clustercrit", "zaki"),
        perfect=None,
        undefined=(_NO_PAIR,),
    ),
    _pairs(
        "sokal_sneath1",
        "D 137",
        "yy / (yy + 2 * (yn + ny))",
        "The Jaccard index with disagreements counted twice.",
        undefined=(_NO_PAIR, _ALONE_BOTH),
    ),
    _pairs(
        "sokal_sneath2",
        "D 137",
        "(yy + nn) / (yy + nn + (yn + ny) / 2)",
        "The Rand index with disagreements counted half.",
        undefined=(_NO_PAIR,),
    ),
    _pairs(
        "ari",
        "V 52",
        "CASE WHEN yn + ny = 0 THEN 1"
        " ELSE 2 * pair_determinant / ((yy + yn) * (yn + nn) + (yy + ny) * (ny + nn)) END",
        "The Rand index adjusted for chance (Hubert & Arabie); 1 for identical partitions.",
        aliases=("adjusted_rand", "adjusted_rand_score"),
        groups=("sklearn",),
        lower=-0.5,
    ),
)


def _matching(name: str, source: str, formula: str, about: str, **more: object) -> Index:
    row: dict[str, object] = {"rule": "max"} | more
    return Index(name, "matching", source, formula, about, **row)  # type: ignore[arg-type]


MATCHING = (
    _matching(
        "purity",
        "Z 17.1.1",
        "majority_points / n",
        "The share of points that belong to their cluster's majority class.",
        groups=("zaki",),
    ),
    _matching(
        "max_matching",
        "Z 17.1.1, C 1",
        "matched_points / n",
        "The share of points on the best one-to-one assignment of clusters to classes.",
        aliases=("accuracy", "clustering_accuracy", "match"),
        groups=("zaki",),
        swapped="max_matching",
    ),
    _matching(
        "cluster_f",
        "Z 17.1",
        "f_total / k",
        "The mean over clusters of the F of the cluster and its majority class.",
        aliases=("f_measure_cluster",),
        groups=("zaki",),
    ),
    _matching(
        "bcubed_precision",
        "Bagga & Baldwin 1998",
        "bcubed_p",
        "The mean over points of the share of their cluster that is of their class.",
        swapped="bcubed_recall",
    ),
    _matching(
        "bcubed_recall",
        "Bagga & Baldwin 1998",
        "bcubed_r",
        "The mean over points of the share of their class that is in their cluster.",
        swapped="bcubed_precision",
    ),
    _matching(
        "bcubed_f1",
        "Bagga & Baldwin 1998",
        "2 * bcubed_p * bcubed_r / (bcubed_p + bcubed_r)",
        "The harmonic mean of BCubed precision and recall.",
        swapped="bcubed_f1",
    ),
    _matching(
        "label_accuracy",
        "P Table II",
        "agreeing / n",
        "The share of points whose label is, to the letter, their truth.",
        swapped="label_accuracy",
        perfect=None,
        literal=True,
    ),
    _matching(
        "label_precision",
        "P Table II",
        "precision_total / k_values",
        "Precision of each value compared literally, averaged over all values that occur"
        " (0 for a value that is never a label).",
        perfect=None,
        literal=True,
    ),
    _matching(
        "label_recall",
        "P Table II",
        "recall_total / k_truth",
        "Recall of each value compared literally, averaged over the values of the truth.",
        perfect=None,
        literal=True,
    ),
)

# Where both partitions are one and the same every normalised form is 1, also where it reads 0/0.
# LEAST(1, .) elsewhere takes off a last bit that rounding may add.
_SAME = "truth_given_labels_nats = 0 AND labels_given_truth_nats = 0"
_FLAT_TRUTH = Undefined(
    f"truth_nats = 0 AND NOT ({_SAME})", "the truth is one class, so its entropy is 0"
)
_FLAT_LABELS = Undefined(
    f"labels_nats = 0 AND NOT ({_SAME})", "the labels are one cluster, so their entropy is 0"
)


def _entropy(name: str, source: str, formula: str, about: str, **more: object) -> Index:
    row: dict[str, object] = {"rule": "max"} | more
    return Index(name, "entropy", source, formula, about, **row)  # type: ignore[arg-type]


def _nats(name: str, source: str, column: str, about: str, **more: object) -> Index:
    """An entropy itself: it carries the unit of `log_base` and has no upper bound."""
    row: dict[str, object] = {"upper": math.inf, "perfect": None, "rule": "min"} | more
    return _entropy(name, source, f"({column}) / log_unit", about, **row)


def _nmi(name: str, source: str, normaliser: str, about: str, **more: object) -> Index:
    formula = f"CASE WHEN {_SAME} THEN 1 ELSE LEAST(1, mi_nats / ({normaliser})) END"
    return _entropy(name, source, formula, about, **({"swapped": name} | more))


ENTROPY = (
    _nats("h_truth", "Z 17.1.2", "truth_nats", "Entropy of the truth.", swapped="h_labels"),
    _nats("h_labels", "Z 17.1.2", "labels_nats", "Entropy of the labels.", swapped="h_truth"),
    _nats(
        "h_joint",
        "Z 17.3",
        "joint_nats",
        "Entropy of truth and labels together.",
        swapped="h_joint",
    ),
    _nats(
        "conditional_entropy",
        "Z 17.2",
        "truth_given_labels_nats",
        "Entropy of the truth that is left when the labels are known.",
        aliases=("h_truth_given_labels",),
        groups=("zaki",),
        perfect=0.0,
        swapped="h_labels_given_truth",
    ),
    _nats(
        "h_labels_given_truth",
        "Z 17.2",
        "labels_given_truth_nats",
        "Entropy of the labels that is left when the truth is known.",
        perfect=0.0,
        swapped="conditional_entropy",
    ),
    _nats(
        "mutual_information",
        "Z 17.4",
        "mi_nats",
        "What truth and labels tell of each other.",
        aliases=("mutual_info_score",),
        groups=("zaki", "sklearn"),
        rule="max",
        swapped="mutual_information",
    ),
    _nats(
        "vi",
        "Z 17.5",
        "truth_given_labels_nats + labels_given_truth_nats",
        "Variation of information: what each partition does not tell of the other, a metric.",
        aliases=("variation_of_information",),
        groups=("zaki",),
        perfect=0.0,
        swapped="vi",
    ),
    _nmi(
        "nmi",
        "Z 17.1.2",
        "SQRT(truth_nats * labels_nats)",
        "Mutual information over the geometric mean of the entropies.",
        aliases=("nmi_geometric",),
        groups=("zaki",),
        undefined=(_FLAT_TRUTH, _FLAT_LABELS),
    ),
    _nmi(
        "nmi_arithmetic",
        "scikit-learn",
        "(truth_nats + labels_nats) / 2",
        "Mutual information over the arithmetic mean of the entropies: the V-measure.",
        aliases=("normalized_mutual_info_score", "v_measure", "v_measure_score"),
        groups=("sklearn",),
    ),
    _nmi(
        "nmi_max",
        "Vinh et al. 2010",
        "CASE WHEN truth_nats > labels_nats THEN truth_nats ELSE labels_nats END",
        "Mutual information over the larger entropy.",
    ),
    _nmi(
        "nmi_min",
        "Vinh et al. 2010",
        "CASE WHEN truth_nats < labels_nats THEN truth_nats ELSE labels_nats END",
        "Mutual information over the smaller entropy.",
        undefined=(_FLAT_TRUTH, _FLAT_LABELS),
    ),
    _nmi(
        "nmi_joint",
        "Vinh et al. 2010",
        "joint_nats",
        "Mutual information over the joint entropy.",
    ),
    _entropy(
        "ami",
        "P Table III",
        f"CASE WHEN {_SAME} THEN 1"
        " ELSE (mi_nats - expected_mi_nats)"
        " / ((truth_nats + labels_nats) / 2 - expected_mi_nats) END",
        "Mutual information adjusted for chance, with the arithmetic mean of the entropies.",
        aliases=("adjusted_mutual_info", "adjusted_mutual_info_score"),
        groups=("sklearn",),
        lower=-1.0,
        swapped="ami",
    ),
    _entropy(
        "homogeneity",
        "Rosenberg & Hirschberg 2007",
        "CASE WHEN truth_nats = 0 THEN 1 ELSE LEAST(1, mi_nats / truth_nats) END",
        "1 when every cluster holds points of one class only.",
        aliases=("homogeneity_score",),
        groups=("sklearn",),
        swapped="completeness",
    ),
    _entropy(
        "completeness",
        "Rosenberg & Hirschberg 2007",
        "CASE WHEN labels_nats = 0 THEN 1 ELSE LEAST(1, mi_nats / labels_nats) END",
        "1 when every class lies in one cluster only.",
        aliases=("completeness_score",),
        groups=("sklearn",),
        swapped="homogeneity",
    ),
)

EXTERNAL: tuple[Index, ...] = tuple(
    replace(row, groups=("external", row.family, *row.groups))
    for row in (*PAIRS, *MATCHING, *ENTROPY)
)
