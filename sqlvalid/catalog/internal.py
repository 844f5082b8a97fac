"""The internal indices: a label column and features, no truth.

D = Desgraupes, clusterCrit (2017); Z = Zaki & Meira, chapter 17; V = Vendramin,
Campello & Hruschka (2010). The numbers are their equations.

wgss, bgss, tss are the within, between and total sums of squares; k is the number of
clusters and p of features.
"""

from __future__ import annotations

import math

from sqlvalid.catalog.index import Index, Undefined

_ONE_CLUSTER = Undefined("k < 2", "there is one cluster")
_NO_WITHIN = Undefined("wgss = 0", "every cluster is a single place, so its scatter is 0")
_NO_BETWEEN = Undefined("bgss = 0", "all centroids are the same")
_SAME_CENTROIDS = Undefined("centroid_min = 0", "two clusters have the same centroid")
_CONSTANT = Undefined("constant_features > 0", "a feature is constant")
_SINGULAR = Undefined(
    "w_singular > 0",
    "the within-cluster scatter matrix is singular (a constant feature, features that"
    " depend on each other, or fewer points than features and clusters)",
)
_FLAT_CLUSTER = Undefined("flat_clusters > 0", "a cluster is a single place: the logarithm of 0")
_NO_VARIANCE = Undefined("variance_norm = 0", "every feature is constant")
_ALONE = Undefined("n = k", "every point is a cluster of its own")

_D = ("internal", "linear", "clustercrit")
_V = ("internal", "linear", "vendramin")
_BOTH = ("internal", "linear", "clustercrit", "vendramin")
_ONLY = ("internal", "linear")


def _linear(
    name: str,
    source: str,
    rule: str,
    formula: str,
    about: str,
    *undefined: Undefined,
    groups: tuple[str, ...],
    lower: float = 0.0,
    upper: float = math.inf,
    aliases: tuple[str, ...] = (),
) -> Index:
    return Index(
        name,
        "linear",
        source,
        formula,
        about,
        rule,  # type: ignore[arg-type]
        needs="features",
        aliases=aliases,
        groups=groups,
        lower=lower,
        upper=upper,
        perfect=None,
        undefined=(_ONE_CLUSTER, *undefined),
    )


LINEAR = (
    _linear(
        "ball_hall",
        "D 30",
        "max_diff",
        "mean_dispersions / k",
        "The mean over clusters of the mean squared distance to the centroid.",
        groups=_D,
    ),
    _linear(
        "ball_hall_distance",
        "V 47",
        "max_diff",
        "within_distances / n",
        "The mean distance of the points to their centroid.",
        groups=_V,
    ),
    _linear(
        "banfeld_raftery",
        "D 31",
        "min",
        "dispersion_logs",
        "The sum over clusters of their size times the logarithm of their mean squared"
        " distance to the centroid.",
        _FLAT_CLUSTER,
        groups=_D,
        lower=-math.inf,
    ),
    _linear(
        "calinski_harabasz",
        "D 33, V 1, Z 17.3",
        "max",
        "(n - k) / (k - 1) * (bgss / wgss)",
        "Between over within sums of squares, each by its degrees of freedom.",
        _NO_WITHIN,
        groups=(*_BOTH, "zaki", "sklearn"),
        aliases=("vrc", "ch", "calinski_harabasz_score"),
    ),
    _linear(
        "davies_bouldin",
        "D 35, V 9",
        "min",
        "similarities / k",
        "The mean over clusters of the largest ratio of two clusters' mean distances to their"
        " centroids to the distance of the centroids.",
        _SAME_CENTROIDS,
        groups=(*_BOTH, "sklearn"),
        aliases=("db", "davies_bouldin_score"),
    ),
    _linear(
        "davies_bouldin_rms",
        "Z 17.2",
        "min",
        "similarities_rms / k",
        "The same with root mean squared distances to the centroids.",
        _SAME_CENTROIDS,
        groups=(*_ONLY, "zaki"),
    ),
    _linear(
        "det_ratio",
        "D 36, V 43",
        "min_diff",
        "EXP(LEAST(ln_det_ratio, 709))",
        "The determinant of the total scatter over that of the within-cluster scatter.",
        _SINGULAR,
        Undefined("ln_det_ratio > 709", "it exceeds 1e308; log_det_ratio has a value"),
        groups=_BOTH,
        lower=1.0,
    ),
    _linear(
        "log_det_ratio",
        "D 58",
        "min_diff",
        "n * ln_det_ratio",
        "The natural logarithm of det_ratio, times the number of points.",
        _SINGULAR,
        groups=_D,
    ),
    _linear(
        "log10_det_ratio",
        "V 44",
        "min_diff",
        "n * ln_det_ratio / LN(10)",
        "The decimal logarithm of det_ratio, times the number of points.",
        _SINGULAR,
        groups=_V,
    ),
    _linear(
        "ksq_detw",
        "D 57, V 45",
        "max_diff",
        "CASE WHEN w_singular > 0 THEN 0 ELSE k * k * EXP(LEAST(ln_det_w, 690)) END",
        "The squared number of clusters times the determinant of the within-cluster scatter;"
        " 0 where that is singular.",
        Undefined(
            "ln_det_w > 690 OR ln_det_w < -690",
            "the determinant is outside the range of 64-bit floats; scale the features",
        ),
        groups=_BOTH,
    ),
    _linear(
        "log_ss_ratio",
        "D 59",
        "min_diff",
        "LN(bgss / wgss)",
        "The natural logarithm of between over within sums of squares.",
        _NO_WITHIN,
        _NO_BETWEEN,
        groups=_D,
        lower=-math.inf,
    ),
    _linear(
        "log10_ss_ratio",
        "V 46",
        "min_diff",
        "LN(pair_ss / wgss) / LN(10)",
        "The decimal logarithm of the sum over pairs of clusters of d²/(1/n + 1/n') over wgss.",
        _NO_WITHIN,
        _NO_BETWEEN,
        groups=_V,
        lower=-math.inf,
    ),
    _linear(
        "pbm",
        "D 66, V 21",
        "max",
        "POWER(total_distances / within_distances * centroid_max / k, 2)",
        "The squared product of the largest distance of centroids and the ratio of the points'"
        " distances to the mean and to their centroids, over the number of clusters.",
        Undefined("within_distances = 0", "every cluster is a single place"),
        groups=_BOTH,
    ),
    _linear(
        "ratkowsky_lance",
        "D 74",
        "max",
        "SQRT(shares / p / k)",
        "The root of the mean over features of between over total sums of squares, over √k.",
        _CONSTANT,
        groups=_D,
        upper=1.0,
    ),
    _linear(
        "c_over_sqrt_k",
        "V 31",
        "max",
        "root_shares / p / SQRT(k)",
        "The mean over features of the root of between over total sums of squares, over √k.",
        _CONSTANT,
        groups=_V,
        upper=1.0,
    ),
    _linear(
        "ray_turi",
        "D 76",
        "min",
        "wgss / n / (centroid_min * centroid_min)",
        "The mean squared distance to the centroid over the smallest squared distance of two.",
        _SAME_CENTROIDS,
        groups=_D,
    ),
    _linear(
        "scott_symons",
        "D 77",
        "min",
        "cluster_ln_dets",
        "The sum over clusters of their size times the log determinant of their covariance.",
        Undefined(
            "singular_clusters > 0",
            "the scatter matrix of a cluster is singular: the logarithm of 0",
        ),
        groups=_D,
        lower=-math.inf,
    ),
    _linear(
        "sd_scat",
        "D 80",
        "min",
        "variance_norms / k / variance_norm",
        "The mean norm of the clusters' variances over the norm of the variances of all points.",
        _NO_VARIANCE,
        groups=_D,
    ),
    _linear(
        "sd_dis",
        "D 83",
        "min",
        "centroid_max / centroid_min * inverse_separations",
        "The ratio of the largest to the smallest distance of centroids, times the sum of the"
        " inverse total distances of each centroid to the others.",
        _SAME_CENTROIDS,
        groups=_D,
    ),
    _linear(
        "sd",
        "D 84",
        "min",
        "sd_alpha * (variance_norms / k / variance_norm)"
        " + centroid_max / centroid_min * inverse_separations",
        "α · sd_scat + sd_dis, where α is the sd_dis of the partition with most clusters in the"
        " call (the first of them); the column sd_alpha_of names it.",
        _NO_VARIANCE,
        _SAME_CENTROIDS,
        Undefined("sd_alpha IS NULL", "sd_dis of the partition that gives α is undefined"),
        groups=_ONLY,
    ),
    _linear(
        "s_dbw",
        "D 88",
        "min",
        "variance_norms / k / variance_norm + 2 * densities / (k * (k - 1))",
        "sd_scat, plus the mean over pairs of clusters of the density halfway between their"
        " centroids over the larger density at the centroids.",
        _NO_VARIANCE,
        Undefined("k > 4000", "more than 4,000 clusters make too many pairs"),
        Undefined("empty_balls > 0", "no point lies near either centroid of a pair of clusters"),
        groups=_D,
    ),
    _linear(
        "trace_w",
        "D 102, V 38",
        "max_diff",
        "wgss",
        "The within-cluster sum of squares.",
        groups=_BOTH,
    ),
    _linear(
        "trace_cov_w",
        "V 39, 40",
        "max_diff",
        "wgss / (n - k)",
        "The trace of the pooled covariance matrix.",
        _ALONE,
        groups=_V,
    ),
    _linear(
        "trace_wib",
        "D 103, V 42",
        "max_diff",
        "wib",
        "The trace of the inverse within-cluster scatter times the between-cluster scatter.",
        _SINGULAR,
        groups=_BOTH,
    ),
    _linear(
        "wemmert_gancarski",
        "D 106",
        "max",
        "gancarski / n",
        "One less the mean ratio of each point's distance to its own centroid to that of the"
        " nearest other one, cluster by cluster and never below 0.",
        Undefined("on_other_centroid > 0", "a point lies on the centroid of another cluster"),
        groups=_D,
        upper=1.0,
    ),
    _linear(
        "silhouette_simplified",
        "V 2.1.7",
        "max",
        "simplified / n",
        "The mean silhouette of the points with distances to centroids in place of mean"
        " distances; a singleton scores 0.",
        Undefined("on_both_centroids > 0", "a point lies on two centroids, its own and another"),
        groups=_V,
        lower=-1.0,
        upper=1.0,
        aliases=("sswc",),
    ),
    _linear(
        "silhouette_alternative_simplified",
        "V 2.1.8",
        "max",
        "alternative / n",
        "The mean over points of the distance to the nearest other centroid over the distance"
        " to the own one plus 1e-6; a singleton scores 0.",
        groups=_V,
        aliases=("asswc",),
    ),
    _linear(
        "silhouette_squared",
        "Spark's ClusteringEvaluator",
        "max",
        "squared_silhouettes / n",
        "The mean silhouette of the points with squared distances, exact by the clusters' sums;"
        " a singleton scores 0.",
        Undefined("same_places > 0", "a point, its cluster and another one are a single place"),
        groups=_ONLY,
        lower=-1.0,
        upper=1.0,
        aliases=("spark_silhouette",),
    ),
)

INTERNAL: tuple[Index, ...] = LINEAR
