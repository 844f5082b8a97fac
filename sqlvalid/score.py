"""`score` and `score_runs`: indices of clusterings against a truth."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from sqlvalid import partitions
from sqlvalid.catalog import EXTERNAL, Index, resolve
from sqlvalid.cells import Cells, fetch_cells
from sqlvalid.engines.duckdb import Connection, engine_for, open_source
from sqlvalid.engines.sources import Source
from sqlvalid.errors import BadArgument, BadData, one_of
from sqlvalid.evaluate import evaluate, refuse_undefined
from sqlvalid.partitions import NoiseAs, Nulls, Policy, Undefined


def score(
    data: Any,
    labels: str | Iterable[str],
    *,
    truth: str | None = None,
    indices: str | Iterable[str] | None = None,
    weight: str | None = None,
    noise: int | float | str | bool | None = None,
    noise_as: NoiseAs | None = None,
    nulls: Nulls = "raise",
    undefined: Undefined = "null",
    log_base: float | None = None,
    con: Connection | None = None,
) -> pl.DataFrame:
    """Score label columns against a truth column, all indices in one scan of the data.

    Parameters
    ----------
    data
        A Polars DataFrame or LazyFrame, a pyarrow Table, RecordBatchReader or Dataset,
        a pandas DataFrame, anything with `__arrow_c_stream__`, a path or glob to parquet,
        CSV or Arrow IPC files, a DuckDB relation, or a table or view name with `con=`.
    labels
        The clusterings: the name of a column, a list of names, or a glob such as "km*".
    truth
        The column with the true classes.
    indices
        Names, aliases, unambiguous prefixes or groups; all that apply by default.
    weight
        A column of row counts, for data that has been aggregated.
    noise, noise_as
        A label that means noise, and what to do with its points: "exclude" them (the
        default once `noise` is given), keep them as one "cluster", or make each one of
        "singletons".
    nulls
        "raise" an error for NULL or NaN labels, or "drop" their rows.
    undefined
        "null" where an index has no value, with the reason in the last column, or "raise".
    log_base
        The base of logarithms for entropies; e by default.
    con
        The DuckDB connection that holds the table; it is left as it was found.

    Returns
    -------
    polars.DataFrame
        One row per partition: `partition`, `n`, `k`, a column per index, `undefined`.

    Examples
    --------
    >>> import polars as pl, sqlvalid as sv
    >>> df = pl.DataFrame({"truth": [1, 1, 1, 2, 2, 3, 3], "found": [1, 1, 2, 1, 1, 3, 3]})
    >>> sv.score(df, labels="found", truth="truth", indices=["accuracy", "ari"]).to_dicts()
    [{'partition': 'found', 'n': 7, 'k': 3, 'max_matching': 0.7142857142857143, \
'ari': 0.3076923076923077, 'undefined': []}]
    """
    one_of("undefined", undefined, ("null", "raise"))
    policy = Policy.of(nulls, noise, noise_as)
    unit = log_unit(log_base)
    chosen = resolve(indices, EXTERNAL)
    source, truth, names = opened(data, labels, truth, weight, con)
    frames = []
    for cells in cells_of(source, [(name,) for name in names], truth, weight, policy, con):
        refuse_incomparable(cells, chosen, indices)
        frames.append(named(evaluate(cells, chosen, ("n", "k"), unit), cells))
    frame = pl.concat(frames)
    order = {name: place for place, name in enumerate(names)}
    frame = frame.sort(pl.col("partition").replace_strict(order, return_dtype=pl.Int64))
    if undefined == "raise":
        refuse_undefined(frame)
    return frame


def opened(
    data: Any, labels: str | Iterable[str], truth: str | None, weight: str | None,
    con: Connection | None,
) -> tuple[Source, str, list[str]]:  # fmt: skip
    """Check what a call names in its data: the source, the truth column, the label columns."""
    source = open_source(data, con)
    if truth is None:
        raise BadArgument("give truth=, the column with the true classes")
    truth = source.require(truth, "truth")
    if weight is not None:
        source.require(weight, "weight")
    return source, truth, partitions.choose_labels(source, labels, [truth, weight])


def log_unit(log_base: float | None) -> float:
    """The natural logarithm of the base, which entropies in nats are divided by."""
    log_base = partitions.plain(log_base)
    if log_base is None:
        return 1.0
    if isinstance(log_base, bool) or not isinstance(log_base, (int, float)):
        raise BadArgument(f"log_base={log_base!r}: give a number, as 2 or 10")
    if not math.isfinite(log_base) or log_base <= 1:
        raise BadArgument(f"log_base={log_base!r}: a base is greater than 1")
    return math.log(log_base)


def cells_of(
    source: Source, keys: Sequence[tuple[str, ...]], truth: str, weight: str | None,
    policy: Policy, con: Connection | None,
) -> Iterable[Cells]:  # fmt: skip
    """The cells of keys, a batch at a time; every batch is one scan of the data."""
    columns = list(dict.fromkeys([truth, *(c for key in keys for c in key)]))
    wanted = columns if weight is None else [*columns, weight]
    if weight in columns:
        raise BadArgument(f"column {weight!r} is given as weight and in another role")
    with engine_for([source], con) as engine:
        scan = engine.scan(source, wanted)
        for column in columns:
            partitions.check_label_type(column, scan.types[column])
        if weight is not None:
            partitions.check_weight_type(weight, scan.types[weight])
        batches = list(partitions.batches(keys, scan.types))
        if len(batches) > 1 and source.kind == "stream":
            scan = engine.kept(scan, wanted)
        for batch in batches:
            yield fetch_cells(engine, scan, truth, batch, weight, policy)


def refuse_incomparable(
    cells: Cells, chosen: Sequence[Index], asked: str | Iterable[str] | None
) -> None:
    """Refuse literal comparison of unlike types where it was asked for by name."""
    literal = [index for index in chosen if index.literal]
    if cells.comparable or not literal or asked is None:
        return
    by_name = [asked] if isinstance(asked, str) else list(asked)
    for name in by_name:
        found = resolve(name, EXTERNAL)
        if len(found) == 1 and found[0].literal:
            types = ", ".join(str(cells.table[c].type) for c in ("truth", "label"))
            raise BadData(
                f"{found[0].name} compares labels to the letter, but truth and labels have"
                f" different types ({types}); cast one of them"
            )


def named(frame: pl.DataFrame, cells: Cells) -> pl.DataFrame:
    """Put the names of the partitions in place of their numbers."""
    if cells.runs is not None:
        names = pl.Series("partition", cells.runs)
    else:
        names = pl.Series("partition", [key[0] for key in cells.keys], dtype=pl.String)
    return frame.select(names.gather(frame["part"]), pl.all().exclude("part"))
