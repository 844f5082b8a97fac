"""sqlvalid: validity indices of clusterings, where the tables are."""

from sqlvalid.errors import SqlvalidError
from sqlvalid.score import score

__all__ = ["SqlvalidError", "score"]
