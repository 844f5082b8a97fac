"""sqlvalid: validity indices of clusterings, where the tables are."""

from sqlvalid.compare import compare
from sqlvalid.errors import SqlvalidError
from sqlvalid.runs import score_runs
from sqlvalid.score import score
from sqlvalid.tables import contingency, match, pairs

__all__ = ["SqlvalidError", "compare", "contingency", "match", "pairs", "score", "score_runs"]
