"""The data that the package ships: iris with several clusterings."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

import polars as pl


def path() -> Path:
    """Where the shipped file lies."""
    with as_file(files("sqlvalid") / "data" / "iris.csv") as file:
        return file


def iris() -> pl.DataFrame:
    """Give the 150 flowers of iris, their species, and seven clusterings of them.

    Examples
    --------
    >>> import sqlvalid as sv
    >>> sv.iris().columns[4:]
    ['species', 'km2', 'km3', 'km4', 'km5', 'ward3', 'single3', 'dbscan']
    """
    return pl.read_csv(path())
