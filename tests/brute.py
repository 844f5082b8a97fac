"""Every index again, slowly: from its definition, over points and pairs of points.

Nothing here is shared with the package. Counts are Python integers, ratios of counts are
fractions, chance is summed over exact hypergeometric probabilities, and a matching is
found by trying all of them. None stands for 0/0.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations

Labels = Sequence[Hashable]
Counts = tuple[int, int, int, int]
Cell = tuple[Hashable, ...]


def ratio(numerator: Fraction | int, denominator: Fraction | int) -> float | None:
    """A quotient rounded once, None for a zero denominator."""
    return None if denominator == 0 else float(Fraction(numerator) / Fraction(denominator))


def same_partition(truth: Labels, labels: Labels) -> bool:
    """Whether the labels only rename the classes."""
    joint = set(zip(truth, labels, strict=True))
    return len(joint) == len(set(truth)) == len(set(labels))


# Pairs of points (D 2.1)


@lru_cache(maxsize=16)
def _pair_counts(truth: tuple[Hashable, ...], labels: tuple[Hashable, ...]) -> Counts:
    yy = yn = ny = nn = 0
    for i, j in combinations(range(len(truth)), 2):
        together_in_truth, together_in_labels = truth[i] == truth[j], labels[i] == labels[j]
        if together_in_truth and together_in_labels:
            yy += 1
        elif together_in_truth:
            yn += 1
        elif together_in_labels:
            ny += 1
        else:
            nn += 1
    return yy, yn, ny, nn


def pair_counts(truth: Labels, labels: Labels) -> Counts:
    """yy, yn, ny, nn by looking at every pair of points."""
    return _pair_counts(tuple(truth), tuple(labels))


def weighted_counts(
    cells: Iterable[tuple[Cell, int]], kind: Callable[[Cell, Cell], int]
) -> list[int]:
    """Pairs of points of four kinds, the points given as cells of n alike, in Python integers.

    `kind` says which of the four a pair is, given the cells of its two points.
    """
    counts = [0, 0, 0, 0]
    listed = list(cells)
    for place, (cell, n) in enumerate(listed):
        counts[kind(cell, cell)] += n * (n - 1) // 2
        for other, m in listed[place + 1 :]:
            counts[kind(cell, other)] += n * m
    return counts


def pair_kind(a: Cell, b: Cell) -> int:
    """0 to 3 for yy, yn, ny, nn: cells are (truth, label)."""
    return {(True, True): 0, (True, False): 1, (False, True): 2, (False, False): 3}[
        a[0] == b[0], a[1] == b[1]
    ]


def precision(yy: int, yn: int, ny: int, nn: int) -> float | None:
    return ratio(yy, yy + ny)  # D 112


def recall(yy: int, yn: int, ny: int, nn: int) -> float | None:
    return ratio(yy, yy + yn)  # D 113


def f_measure(yy: int, yn: int, ny: int, nn: int, alpha: float = 1.0) -> float | None:
    weight = Fraction(alpha)  # D 116 with both sides multiplied out, D 115 for alpha = 1
    return ratio((1 + weight) * yy, weight * (yy + yn) + yy + ny)


def folkes_mallows(yy: int, yn: int, ny: int, nn: int) -> float | None:
    squared = ratio(yy * yy, (yy + yn) * (yy + ny))  # D 124
    return None if squared is None else math.sqrt(squared)


def hubert(yy: int, yn: int, ny: int, nn: int) -> float | None:
    total = yy + yn + ny + nn  # D 127
    numerator = total * yy - (yy + yn) * (yy + ny)
    squared = ratio(numerator**2, (yy + yn) * (yy + ny) * (nn + yn) * (nn + ny))
    return None if squared is None else math.copysign(math.sqrt(squared), numerator)


def jaccard(yy: int, yn: int, ny: int, nn: int) -> float | None:
    return ratio(yy, yy + yn + ny)  # D 128


def kulczynski(yy: int, yn: int, ny: int, nn: int) -> float | None:
    if yy + ny == 0 or yy + yn == 0:
        return None
    return float((Fraction(yy, yy + ny) + Fraction(yy, yy + yn)) / 2)  # D 129


def mcnemar(yy: int, yn: int, ny: int, nn: int) -> float | None:
    return (yn - ny) / math.sqrt(yn + ny) if yn + ny else None  # D 131


def mcnemar_chi2(yy: int, yn: int, ny: int, nn: int) -> float | None:
    return ratio((yn - ny) ** 2, yn + ny)  # D 2.4.6


def mcnemar_p(yy: int, yn: int, ny: int, nn: int) -> float | None:
    z = mcnemar(yy, yn, ny, nn)  # both tails of the normal distribution
    return None if z is None else math.erfc(abs(z) / math.sqrt(2))


def phi(yy: int, yn: int, ny: int, nn: int) -> float | None:
    return ratio(yy * nn - yn * ny, (yy + yn) * (yy + ny) * (yn + nn) * (ny + nn))  # D 132


def rand(yy: int, yn: int, ny: int, nn: int) -> float | None:
    return ratio(yy + nn, yy + yn + ny + nn)  # D 133


def rogers_tanimoto(yy: int, yn: int, ny: int, nn: int) -> float | None:
    return ratio(yy + nn, yy + nn + 2 * (yn + ny))  # D 134


def russel_rao(yy: int, yn: int, ny: int, nn: int) -> float | None:
    return ratio(yy, yy + yn + ny + nn)  # D 135


def sokal_sneath1(yy: int, yn: int, ny: int, nn: int) -> float | None:
    return ratio(yy, yy + 2 * (yn + ny))  # D 137


def sokal_sneath2(yy: int, yn: int, ny: int, nn: int) -> float | None:
    return ratio(yy + nn, yy + nn + Fraction(yn + ny, 2))  # D 137


def adjusted_rand(yy: int, yn: int, ny: int, nn: int) -> float | None:
    if yn == ny == 0:
        return 1.0  # identical, also where the formula reads 0/0
    together, found, total = yy + yn, yy + ny, yy + yn + ny + nn
    expected = Fraction(together * found, total)  # V 52
    return ratio(yy - expected, Fraction(together + found, 2) - expected)


OF_PAIR_COUNTS: dict[str, Callable[[int, int, int, int], float | None]] = {
    "precision": precision,
    "recall": recall,
    "czekanowski_dice": f_measure,
    "folkes_mallows": folkes_mallows,
    "hubert": hubert,
    "jaccard": jaccard,
    "kulczynski": kulczynski,
    "mcnemar": mcnemar,
    "mcnemar_chi2": mcnemar_chi2,
    "mcnemar_p": mcnemar_p,
    "phi": phi,
    "rand": rand,
    "rogers_tanimoto": rogers_tanimoto,
    "russel_rao": russel_rao,
    "sokal_sneath1": sokal_sneath1,
    "sokal_sneath2": sokal_sneath2,
    "ari": adjusted_rand,
}


def _over_pairs(
    formula: Callable[[int, int, int, int], float | None],
) -> Callable[[Labels, Labels], float | None]:
    return lambda truth, labels: formula(*pair_counts(truth, labels))


def pair_f(truth: Labels, labels: Labels, alpha: float) -> float | None:
    return f_measure(*pair_counts(truth, labels), alpha)


# Matching of clusters with classes (Z 17.1.1)


def _clusters(truth: Labels, labels: Labels) -> dict[Hashable, Counter[Hashable]]:
    """For every cluster, how many of its points each class has."""
    clusters: dict[Hashable, Counter[Hashable]] = {}
    for one, other in zip(truth, labels, strict=True):
        clusters.setdefault(other, Counter())[one] += 1
    return clusters


def purity(truth: Labels, labels: Labels) -> float:
    return sum(max(c.values()) for c in _clusters(truth, labels).values()) / len(truth)


def max_matching(truth: Labels, labels: Labels) -> float:
    """The best of all one-to-one assignments.

    All are tried; of those that use up the same classes only the best goes on, which
    keeps 12 by 12 within reach.
    """
    if len(set(truth)) > len(set(labels)):
        truth, labels = labels, truth
    place = {value: i for i, value in enumerate(dict.fromkeys(truth))}
    best = {0: 0}
    for cluster in _clusters(truth, labels).values():
        reached = dict(best)
        for used, total in best.items():
            for value, n in cluster.items():
                bit = 1 << place[value]
                if not used & bit:
                    reached[used | bit] = max(reached.get(used | bit, 0), total + n)
        best = reached
    return max(best.values()) / len(truth)


def cluster_f(truth: Labels, labels: Labels) -> float:
    """The mean F of clusters and their majority class, of equal ones the smaller class."""
    sizes = Counter(truth)
    values = []
    for cluster in _clusters(truth, labels).values():
        most = max(cluster.values())
        smallest = min(sizes[value] for value, n in cluster.items() if n == most)
        values.append(Fraction(2 * most, cluster.total() + smallest))
    return float(sum(values) / len(values))


def _bcubed(of: Labels, within: Labels) -> Fraction:
    """The mean over points of the share of their group in `within` that is like them in `of`."""
    shares = []
    for point, group in enumerate(within):
        mates = [other for other, label in enumerate(within) if label == group]
        shares.append(Fraction(sum(of[other] == of[point] for other in mates), len(mates)))
    return sum(shares) / len(shares)


def bcubed_precision(truth: Labels, labels: Labels) -> float:
    return float(_bcubed(truth, labels))


def bcubed_recall(truth: Labels, labels: Labels) -> float:
    return float(_bcubed(labels, truth))


def bcubed_f1(truth: Labels, labels: Labels) -> float:
    p, r = _bcubed(truth, labels), _bcubed(labels, truth)
    return float(2 * p * r / (p + r))


def label_accuracy(truth: Labels, labels: Labels) -> float:
    return sum(a == b for a, b in zip(truth, labels, strict=True)) / len(truth)


def _share_right(value: Hashable, among: Labels, other: Labels) -> Fraction:
    called = [b == value for a, b in zip(other, among, strict=True)]
    right = [a == b == value for a, b in zip(other, among, strict=True)]
    return Fraction(sum(right), sum(called)) if any(called) else Fraction(0)


def label_precision(truth: Labels, labels: Labels) -> float:
    values = set(truth) | set(labels)
    return float(sum(_share_right(v, labels, truth) for v in values) / len(values))


def label_recall(truth: Labels, labels: Labels) -> float:
    values = set(truth)
    return float(sum(_share_right(v, truth, labels) for v in values) / len(values))


# Entropies (Z 17.1.2), in nats


def entropy(labels: Labels) -> float:
    n = len(labels)
    return math.fsum(-size / n * math.log(size / n) for size in Counter(labels).values())


def joint_entropy(truth: Labels, labels: Labels) -> float:
    return entropy(list(zip(truth, labels, strict=True)))


def conditional_entropy(truth: Labels, labels: Labels) -> float:
    """What is left of the truth inside the clusters: their own entropies, weighted (Z 17.2)."""
    inside = [
        [a for a, b in zip(truth, labels, strict=True) if b == cluster] for cluster in set(labels)
    ]
    return math.fsum(len(points) / len(truth) * entropy(points) for points in inside)


def mutual_information(truth: Labels, labels: Labels) -> float:
    n, classes, clusters = len(truth), Counter(truth), Counter(labels)
    cells = Counter(zip(truth, labels, strict=True))
    return math.fsum(  # Z 17.4; the quotient is rounded once, so that 1 has the logarithm 0
        size / n * math.log(Fraction(size * n, classes[a] * clusters[b]))
        for (a, b), size in cells.items()
    )


def variation_of_information(truth: Labels, labels: Labels) -> float:
    return conditional_entropy(truth, labels) + conditional_entropy(labels, truth)  # Z 17.5


def _normalised(
    mean: Callable[[float, float, float], float],
) -> Callable[[Labels, Labels], float | None]:
    """Mutual information over a mean of H(truth), H(labels) and H(both)."""

    def value(truth: Labels, labels: Labels) -> float | None:
        if same_partition(truth, labels):
            return 1.0
        scale = mean(entropy(truth), entropy(labels), joint_entropy(truth, labels))
        return mutual_information(truth, labels) / scale if scale else None

    return value


def homogeneity(truth: Labels, labels: Labels) -> float:
    whole = entropy(truth)
    return 1 - conditional_entropy(truth, labels) / whole if whole else 1.0


def completeness(truth: Labels, labels: Labels) -> float:
    return homogeneity(labels, truth)


def expected_mutual_information(classes: Sequence[int], clusters: Sequence[int]) -> float:
    """The mean mutual information of random partitions with these sizes (Vinh et al. 2010)."""
    n = sum(classes)
    times = Counter((a, b) for a in classes for b in clusters)
    return math.fsum(times[a, b] * term for a, b in times for term in _expected_terms(a, b, n))


def _expected_terms(a: int, b: int, n: int) -> Iterable[float]:
    ways = math.comb(n, b)
    for x in range(max(1, a + b - n), min(a, b) + 1):
        probability = Fraction(math.comb(a, x) * math.comb(n - a, b - x), ways)
        yield float(probability * Fraction(x, n)) * math.log(Fraction(n * x, a * b))


def adjusted_mutual_information(truth: Labels, labels: Labels) -> float | None:
    if same_partition(truth, labels):
        return 1.0
    classes, clusters = (list(Counter(given).values()) for given in (truth, labels))
    expected = expected_mutual_information(classes, clusters)
    above = mutual_information(truth, labels) - expected
    room = (entropy(truth) + entropy(labels)) / 2 - expected
    return above / room if room else None


EXTERNAL: dict[str, Callable[[Labels, Labels], float | None]] = {
    **{name: _over_pairs(formula) for name, formula in OF_PAIR_COUNTS.items()},
    "purity": purity,
    "max_matching": max_matching,
    "cluster_f": cluster_f,
    "bcubed_precision": bcubed_precision,
    "bcubed_recall": bcubed_recall,
    "bcubed_f1": bcubed_f1,
    "label_accuracy": label_accuracy,
    "label_precision": label_precision,
    "label_recall": label_recall,
    "h_truth": lambda truth, labels: entropy(truth),
    "h_labels": lambda truth, labels: entropy(labels),
    "h_joint": joint_entropy,
    "conditional_entropy": conditional_entropy,
    "h_labels_given_truth": lambda truth, labels: conditional_entropy(labels, truth),
    "mutual_information": mutual_information,
    "vi": variation_of_information,
    "nmi": _normalised(lambda truth, labels, joint: math.sqrt(truth * labels)),
    "nmi_arithmetic": _normalised(lambda truth, labels, joint: (truth + labels) / 2),
    "nmi_max": _normalised(lambda truth, labels, joint: max(truth, labels)),
    "nmi_min": _normalised(lambda truth, labels, joint: min(truth, labels)),
    "nmi_joint": _normalised(lambda truth, labels, joint: joint),
    "ami": adjusted_mutual_information,
    "homogeneity": homogeneity,
    "completeness": completeness,
}

PARAMETERISED: dict[str, Callable[[Labels, Labels, float], float | None]] = {"pair_f": pair_f}


# Two clusterings against a truth (P, algorithm 1 and 5-9)


def comparison_kind(a: Cell, b: Cell) -> int:
    """0 to 3 for br, rw, wr, bw: cells are (truth, primary, alternative)."""
    g, p, q = (one == other for one, other in zip(a, b, strict=True))
    if (p and q and g) or (not p and not q and not g):
        return 0
    if (p and not q and g) or (not p and q and not g):
        return 1
    if (not p and q and g) or (p and not q and not g):
        return 2
    return 3


def comparison_counts(truth: Labels, primary: Labels, alternative: Labels) -> Counts:
    """br, rw, wr, bw by looking at every pair of points."""
    counts = [0, 0, 0, 0]
    for a, b in combinations(zip(truth, primary, alternative, strict=True), 2):
        counts[comparison_kind(a, b)] += 1
    return (counts[0], counts[1], counts[2], counts[3])


COMPARATIVE: dict[str, Callable[[int, int, int, int], float | None]] = {
    "comparative_deviation": lambda br, rw, wr, bw: _or_zero(rw - wr, rw + wr),
    "polarization": lambda br, rw, wr, bw: ratio(br + rw - bw, br + rw + wr + bw),
    "comparative_rightness": lambda br, rw, wr, bw: _or_zero(br + rw, br + rw + wr),
    "effective_rightness": lambda br, rw, wr, bw: _or_zero(br + rw - wr, br + rw + wr),
    "effective_superiority": lambda br, rw, wr, bw: ratio(br + rw - wr, br + rw + wr + bw),
}


def _or_zero(numerator: int, denominator: int) -> float | None:
    """0 for a zero denominator."""
    return 0.0 if denominator == 0 else ratio(numerator, denominator)
