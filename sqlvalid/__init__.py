"""sqlvalid: validity indices of clusterings, where the tables are."""

from sqlvalid import namespace
from sqlvalid.compare import compare
from sqlvalid.demo import iris
from sqlvalid.describe import explain, indices, sql
from sqlvalid.errors import SqlvalidError
from sqlvalid.runs import score_runs
from sqlvalid.scatter import centroids, scatter
from sqlvalid.score import score
from sqlvalid.tables import contingency, match, pairs

__version__ = "0.1.0"

__all__ = [
    "SqlvalidError",
    "centroids",
    "compare",
    "contingency",
    "explain",
    "indices",
    "iris",
    "match",
    "pairs",
    "scatter",
    "score",
    "score_runs",
    "sql",
]

namespace.register()
