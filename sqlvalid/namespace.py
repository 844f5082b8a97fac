"""`df.sv.score(...)`: the verbs as a namespace on Polars frames."""

from __future__ import annotations

from typing import Any

import polars as pl

from sqlvalid.compare import compare
from sqlvalid.describe import Explanation, explain
from sqlvalid.runs import score_runs
from sqlvalid.scatter import centroids, scatter
from sqlvalid.score import score
from sqlvalid.tables import contingency, match, pairs


class Namespace:
    """The verbs of sqlvalid with the frame as their data.

    >>> import polars as pl, sqlvalid
    >>> df = pl.DataFrame({"t": [1, 1, 2], "a": [1, 2, 2]})
    >>> df.sv.score("a", truth="t", indices="rand")["rand"].item()
    0.3333333333333333
    """

    def __init__(self, frame: pl.DataFrame | pl.LazyFrame) -> None:
        """Hold the frame that the verbs are about."""
        self._frame = frame

    def score(self, *args: Any, **kwargs: Any) -> pl.DataFrame:
        """`sqlvalid.score` on this frame."""
        return score(self._frame, *args, **kwargs)

    def score_runs(self, *args: Any, **kwargs: Any) -> pl.DataFrame:
        """`sqlvalid.score_runs` with this frame as the run table."""
        return score_runs(self._frame, *args, **kwargs)

    def centroids(self, *args: Any, **kwargs: Any) -> pl.DataFrame:
        """`sqlvalid.centroids` on this frame."""
        return centroids(self._frame, *args, **kwargs)

    def scatter(self, *args: Any, **kwargs: Any) -> pl.DataFrame:
        """`sqlvalid.scatter` on this frame."""
        return scatter(self._frame, *args, **kwargs)

    def compare(self, *args: Any, **kwargs: Any) -> pl.DataFrame:
        """`sqlvalid.compare` on this frame."""
        return compare(self._frame, *args, **kwargs)

    def contingency(self, *args: Any, **kwargs: Any) -> pl.DataFrame:
        """`sqlvalid.contingency` on this frame."""
        return contingency(self._frame, *args, **kwargs)

    def pairs(self, *args: Any, **kwargs: Any) -> pl.DataFrame:
        """`sqlvalid.pairs` on this frame."""
        return pairs(self._frame, *args, **kwargs)

    def match(self, *args: Any, **kwargs: Any) -> pl.DataFrame:
        """`sqlvalid.match` on this frame."""
        return match(self._frame, *args, **kwargs)

    def explain(self, *args: Any, **kwargs: Any) -> Explanation:
        """`sqlvalid.explain` on this frame."""
        return explain(self._frame, *args, **kwargs)


def register() -> None:
    """Put the namespace `sv` on DataFrame and LazyFrame, unless it is there already."""
    for cls, hook in (
        (pl.DataFrame, pl.api.register_dataframe_namespace),
        (pl.LazyFrame, pl.api.register_lazyframe_namespace),
    ):
        if not hasattr(cls, "sv"):
            hook("sv")(Namespace)
