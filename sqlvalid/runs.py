"""`score_runs`: any number of clusterings in one long table of (run, point, label)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from sqlvalid import compile, partitions
from sqlvalid.cells import Cells, check, readings
from sqlvalid.engines import Scan
from sqlvalid.engines.duckdb import Connection, DuckDB, engine_for, open_source, session
from sqlvalid.engines.sources import Source
from sqlvalid.errors import BadArgument, BadData, listed, one_of
from sqlvalid.evaluate import Found, clusters_of, evaluate, refuse_undefined, statistics_of
from sqlvalid.features import choose_features
from sqlvalid.identifiers import column
from sqlvalid.kernels.points import Codes
from sqlvalid.measure import Batch, Points, coder, held, measure_held
from sqlvalid.measure.batches import ROWS
from sqlvalid.partitions import NoiseAs, Nulls, Policy, Undefined
from sqlvalid.plan import Plan, plan
from sqlvalid.score import (
    Call,
    Reader,
    affordable,
    applicable,
    check_standardize,
    geometry_columns,
    label_of,
    log_unit,
    named,
    plain,
    refuse_incomparable,
    with_notes,
)  # fmt: skip

RUNS_IN_MEMORY = 256 * 2**20  # bytes of labels that are held at once


def score_runs(
    runs: Any,
    *,
    points: Any = None,
    truth: str | None = None,
    features: str | Iterable[str] | None = None,
    run: str = "run",
    point: str = "point",
    label: str = "label",
    indices: str | Iterable[str] | None = None,
    weight: str | None = None,
    standardize: bool = False,
    noise: int | float | str | bool | None = None,
    noise_as: NoiseAs | None = None,
    nulls: Nulls = "raise",
    undefined: Undefined = "null",
    log_base: float | None = None,
    con: Connection | None = None,
) -> pl.DataFrame:
    """Score every run of a long table against the truth of its points, their features, or both.

    `runs` holds a row per run and point with the columns `run`, `point` and `label`;
    `points` holds a row per point with `point` and, as given, `truth`, `features` and
    `weight`. Every run must have every point exactly once. The other arguments are those
    of `score`.

    Examples
    --------
    >>> import polars as pl, sqlvalid as sv
    >>> points = pl.DataFrame({"point": [1, 2, 3, 4], "truth": ["a", "a", "b", "b"]})
    >>> runs = pl.DataFrame({
    ...     "run": [1, 1, 1, 1, 2, 2, 2, 2],
    ...     "point": [1, 2, 3, 4, 4, 3, 2, 1],
    ...     "label": [0, 0, 1, 1, 0, 1, 0, 1],
    ... })
    >>> sv.score_runs(runs, points=points, truth="truth", indices=["ari", "purity"]).rows()
    [(1, 4, 2, 1.0, 1.0, []), (2, 4, 2, -0.5, 0.5, [])]
    """
    one_of("undefined", undefined, ("null", "raise"))
    policy = Policy.of(nulls, noise, noise_as)
    unit = log_unit(log_base)
    check_standardize(standardize, features)
    if points is None:
        raise BadArgument("give points=, the table with a row per point: truth, features or both")
    of_runs, of_points = open_source(runs, con), open_source(points, con)
    for name, role in ((run, "run"), (point, "point"), (label, "label")):
        of_runs.require(name, role)
    _check_roles({"run": run, "point": point, "label": label})
    roles = {"point": point, "truth": truth, "weight": weight}
    given = {role: name for role, name in roles.items() if name is not None}
    for role, name in given.items():
        of_points.require(name, f"{role} (of points)")
    _check_roles(given)
    taken = {name: role for role, name in given.items()}
    numbers = [] if features is None else choose_features(of_points, features, taken)
    chosen = applicable(indices, truth, numbers)
    planned = plan(chosen, ("n", "k"))
    wanted = [*given.values(), *numbers]
    dear: list[str] = []
    with engine_for([of_runs, of_points], con) as engine:
        kept = engine.scan(of_points, wanted)
        if of_points.kind in ("stream", "relation"):
            kept = engine.kept(kept, wanted)
        met = engine.scan(of_runs, [run, point, label])
        if planned.of_points and of_runs.kind in ("stream", "relation"):
            met = engine.kept(met, [run, point, label])
        _check_types(met, kept, run, point, label, truth, weight)
        whole = _summary(engine, kept, point, truth, weight, nulls)
        call = Call(of_points, truth, [], weight, numbers)
        reader = Reader(engine, kept, call, nulls)
        usable = () if reader.features is None else reader.features.usable
        query = compile.run_cells(met.table, kept.table, run, point, label, truth, weight, usable)
        table, names = _numbered(engine.fetch(query), run)
        _check_complete(engine, of_runs, met, table, names, whole, run, point)
        types = {"truth": kept.types[truth] if truth else "INTEGER", "label": met.types[label]}
        policy = policy.fitted(label, types["label"])
        cells = Cells(table, (), policy, *readings(types, table), runs=names)
        check(cells, {"truth": [truth or ""], "label": [label]}, None)
        refuse_incomparable(cells, chosen, indices)
        able = tuple(i for i in chosen if cells.comparable or not i.literal)
        parts, columns = statistics_of(cells, plan(able, ("n", "k")))
        found = Found([], {}, [])
        found.add([names[part].as_py() for part in parts], columns, cells.comparable)
        if planned.of_points:
            if indices is None:
                ks = [float(k) for k in columns["k"]]
                chosen, dear = affordable(chosen, reader.p, whole["points"], ks)
                planned = plan(chosen, ("n", "k"))
            runs_met = Runs(met, label_of(run, met), point, label_of(label, met))
            by_run = _measured(reader, runs_met, cells, planned, standardize)
            for name in by_run[0]:
                found.columns[name] = [by_run[part][name] for part in parts]
    places = pl.Series(found.partitions).arg_sort()
    found = found.ordered({found.partitions[i]: place for place, i in enumerate(places)})
    frame = named(found, evaluate(found, chosen, unit), pl.Series(plain(names)).dtype)
    if undefined == "raise":
        refuse_undefined(frame)
    return with_notes(frame, dear)


@dataclass(frozen=True, slots=True)
class Runs:
    """A run table that is open to be read."""

    scan: Scan
    run: exp.Expr
    point: str
    label: exp.Expr


def _measured(
    reader: Reader, runs: Runs, cells: Cells, planned: Plan, standardize: bool
) -> list[dict[str, float | None]]:
    """The statistics of the points of every run; the points are held in memory."""
    features, call, engine = reader.features, reader.call, reader.engine
    assert features is not None
    where = [*reader.where(cells.policy.nulls), *features.usable]
    points = Points(engine, reader.scan, features, [], call.weight, where, 0)
    whole, keys, scale = held(points, column(runs.point))
    x, weights = whole.x, whole.weights
    numbered = engine.register(pa.table({"point": keys, "place": np.arange(len(x))}))
    sizes = clusters_of(cells)
    lone = cells.policy.noise if cells.policy.noise_as == "singletons" else None
    known = plain(sizes["label"].drop_null().unique())
    code = coder(known, lone)
    part, n = sizes["part"].to_numpy(), sizes["n"].to_numpy().astype(np.float64)
    codes = np.where(sizes["label"].is_valid().to_numpy(), code(plain(sizes["label"])), -1)
    names = plain(cells.runs)
    at_once = max(1, RUNS_IN_MEMORY // (4 * max(1, len(x))))
    found: list[dict[str, float | None]] = []
    for start in range(0, len(names), at_once):
        some = names.slice(start, at_once)
        labelled = _labels(engine, runs, numbered, some, len(some) < len(names), code, len(x))

        def one(row: int, start: int = start, labelled: Any = labelled) -> dict[str, float | None]:
            first, last = np.searchsorted(part, (start + row, start + row + 1))
            own = np.arange(first, last)[codes[first:last] >= 0]
            k = len(own)
            to = np.full(len(known) + 2, k, dtype=np.int32)
            to[codes[own]] = np.arange(k, dtype=np.int32)
            to[len(known) + 1] = k + 1
            batch = Batch(x, [to[labelled[row]]], weights)
            scaled = scale if standardize else None
            clusters = measure_held(batch, n[own], lone is not None, planned.sums, scaled)
            return geometry_columns(planned, clusters)

        found.extend(map(one, range(len(some))))
    return found


def _labels(
    engine: DuckDB, runs: Runs, numbered: exp.Expr, some: pa.Array, filtered: bool,
    code: Callable[[pa.Array], Codes], points: int,
) -> Codes:  # fmt: skip
    """The codes of the labels that some runs give to the numbered points, a row per run."""
    chosen = engine.register(pa.table({"run": some})) if filtered else None
    query = compile.run_labels(
        runs.scan.table, numbered.copy(), runs.run, runs.point, runs.label.copy(), chosen
    )
    number = coder(some)
    found: Codes = np.empty((len(some), points), dtype=np.int32)
    for batch in engine.stream(query, ROWS):
        found[number(batch.column("run")), batch.column("place").to_numpy()] = code(
            batch.column("label")
        )
    return found


def _check_roles(roles: dict[str, str]) -> None:
    by_name: dict[str, str] = {}
    for role, name in roles.items():
        if name in by_name:
            raise BadArgument(f"column {name!r} is given as {by_name[name]} and as {role}")
        by_name[name] = role


def _check_types(
    met: Scan, held: Scan, run: str, point: str, label: str, truth: str | None, weight: str | None
) -> None:
    for name, types in ((run, met.types), (label, met.types), (truth, held.types)):
        if name is not None:
            partitions.check_label_type(name, types[name])
    if weight is not None:
        partitions.check_weight_type(weight, held.types[weight])
    of_runs, of_points = met.types[point], held.types[point]
    if partitions.kind_of(of_runs) != partitions.kind_of(of_points):
        raise BadData(
            f"column {point!r} is {of_runs} in runs and {of_points} in points, which cannot"
            " be joined; cast one of them"
        )


def _summary(
    engine: DuckDB, held: Scan, point: str, truth: str | None, weight: str | None, nulls: str
) -> dict[str, Any]:
    """What a run that has every point once adds up to; refuse points that are not well formed."""
    table = engine.fetch(compile.points_summary(held.table, point, truth, weight))
    whole: dict[str, Any] = table.to_pylist()[0]
    if whole["points"] == 0:
        raise BadData("points has no rows")
    for name, fault, what in (
        (point, whole["points_null"], "NULL"),
        (point, whole["points"] - whole["points_null"] - whole["points_distinct"], "a repeat"),
        (truth, whole["truth_null"] if nulls == "raise" else 0, "NULL"),
        (weight, whole.get("weights_null", 0), "NULL"),
        (weight, whole.get("weights_negative", 0), "negative"),
        (weight, whole.get("weights_fractional", 0), "not a whole number below 2**63"),
    ):
        if fault:
            s = "" if fault == 1 else "s"
            raise BadData(f"points: column {name!r} is {what} in {fault} row{s}")
    if weight is not None and not whole["n"]:
        total = "0 in every row" if whole["n"] == 0 else "more than 9.2e18 in all"
        raise BadData(f"points: column {weight!r} is {total}")
    return whole


def _numbered(table: pa.Table, run: str) -> tuple[pa.Table, pa.Array]:
    """Number the runs, so that nothing after this depends on the type of their names."""
    if table.num_rows == 0:
        raise BadData("runs has no rows")
    if table["part"].null_count:
        raise BadData(f"runs: column {run!r} is NULL in some rows; every row belongs to a run")
    if pa.types.is_floating(table["part"].type) and pc.any(pc.is_nan(table["part"])).as_py():
        raise BadData(f"runs: column {run!r} is NaN in some rows; every row belongs to a run")
    encoded = table["part"].dictionary_encode().unify_dictionaries()
    numbers = pa.chunked_array([chunk.indices for chunk in encoded.chunks])
    place = table.column_names.index("part")
    return table.set_column(place, "part", numbers), encoded.chunk(0).dictionary


def _check_complete(
    engine: DuckDB, source: Source, met: Scan, table: pa.Table, names: pa.Array,
    whole: dict[str, Any], run: str, point: str,
) -> None:  # fmt: skip
    """Refuse a run that lacks points, has one twice, or has one that points does not know."""
    totals = (whole["points"], whole["points"], whole["marks"], whole["marks_xor"])
    with session({"fetched": table}, table.num_rows) as con:
        rows = con.execute(compile.completeness_sql()).fetchall()
    bad = [
        (part, met, known) for part, met, known, *marks in rows if (met, known, *marks) != totals
    ]
    if not bad:
        return
    number, seen, known = min(bad, key=lambda row: str(names[row[0]]))
    part = names[number].as_py()
    more = f" (and {len(bad) - 1} more runs)" if len(bad) > 1 else ""
    if known < seen:
        raise BadData(
            f"run {part!r}{more} has {seen - known} rows whose {point!r} is not in points"
        )
    twice: list[Any] = []
    if source.kind not in ("stream", "relation"):
        query = compile.points_twice(met.table, run, point, part)
        twice = engine.fetch(query)["point"].to_pylist()
    have = f"{seen} rows for {whole['points']} points"
    if twice:
        raise BadData(f"run {part!r}{more} has points twice: {listed(twice, most=3)} ({have})")
    lack = (
        f"lacks {whole['points'] - seen} points or more"
        if seen < whole["points"]
        else ("lacks points or has one twice")
    )
    raise BadData(f"run {part!r}{more} {lack}: {have}")
