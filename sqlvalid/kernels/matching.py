"""The best one-to-one assignment of clusters to classes (Z 17.1.1, C 1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

# A component of the contingency graph is solved as a dense matrix up to this many entries
# (128 MiB of float64); a larger one as a sparse graph.
_DENSE = 1 << 24
# Up to this many entries looking for components costs more than it saves.
_SMALL = 1 << 14


def assign(rows: Ints, cols: Ints, counts: Ints) -> Ints:
    """Give the positions of the cells on a maximum-weight matching of rows with columns.

    `rows`, `cols` and `counts` list the non-zero cells of a contingency table, each
    once. The table may be rectangular, and it is never made dense as a whole: rows
    and columns that share no chain of cells are matched apart from each other.

    >>> cells = np.array([[0, 0, 3], [0, 1, 4], [1, 0, 5]])   # row, column, count
    >>> assign(*cells.T).tolist()
    [1, 2]
    """
    n_rows, row = _dense_codes(rows)
    n_cols, col = _dense_codes(cols)
    if n_rows * n_cols <= _SMALL:
        return _assign_connected(row, col, counts)
    chosen, left = _certain(row, col, counts)
    if not len(left):
        return np.sort(chosen)
    rest = left[_assign_parts(row[left], col[left], counts[left])]
    return np.sort(np.concatenate([chosen, rest]))


def _certain(row: Ints, col: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Cells that some best assignment has for certain, and the cells that are then left.

    A cell that counts as much as the best other cells of its row and of its column
    together can replace them in any assignment. Taking such cells out makes more of
    them; where clusters and classes nearly agree they are almost all there is.
    """
    left = np.arange(len(row))
    taken = []
    while len(left):
        rivals = _best_other(row[left], counts[left]) + _best_other(col[left], counts[left])
        found = left[counts[left] >= rivals]
        found = found[np.unique(row[found], return_index=True)[1]]
        found = found[np.unique(col[found], return_index=True)[1]]
        taken.append(found)
        gone = np.isin(row[left], row[found]) | np.isin(col[left], col[found])
        left = left[~gone]
        if 100 * len(found) < len(left):
            break  # what is left is a real puzzle
    return np.concatenate(taken), left


def _best_other(group: Ints, counts: Ints) -> Ints:
    """For each cell the largest count of another cell of its group, 0 if there is none."""
    order = np.lexsort((counts, group))
    last = np.append(np.flatnonzero(np.diff(group[order])), len(order) - 1)
    best, second = order[last], order[np.maximum(last - 1, 0)]
    other = np.zeros(group.max() + 1, dtype=np.int64)
    other[group[best]] = counts[best]
    result: Ints = other[group]
    has_second = (last > 0) & (group[second] == group[best])
    result[best] = np.where(has_second, counts[second], 0)
    return result


def _assign_parts(rows: Ints, cols: Ints, counts: Ints) -> Ints:
    """Match rows and columns that share no chain of cells apart from each other."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n_rows, row = _dense_codes(rows)
    n_cols, col = _dense_codes(cols)
    n_nodes = n_rows + n_cols
    graph = coo_array((np.ones(len(row)), (row, n_rows + col)), shape=(n_nodes, n_nodes))
    n_parts, part = connected_components(graph, directed=False)
    part_of_cell = part[row]
    order = np.argsort(part_of_cell, kind="stable")
    ends = np.cumsum(np.bincount(part_of_cell, minlength=n_parts))
    chosen = []
    for cells in np.split(order, ends[:-1]):
        if len(cells) == 1:
            chosen.append(cells)
        else:
            chosen.append(cells[_assign_connected(row[cells], col[cells], counts[cells])])
    return np.sort(np.concatenate(chosen))


def _assign_connected(row: Ints, col: Ints, counts: Ints) -> Ints:
    n_rows, row = _dense_codes(row)
    n_cols, col = _dense_codes(col)
    if n_rows == 1 or n_cols == 1:
        return np.array([np.argmax(counts)])
    if n_rows * n_cols <= _DENSE:
        return _assign_dense(row, col, counts, (n_rows, n_cols))
    return _assign_sparse(row, col, counts, (n_rows, n_cols))


def _assign_dense(row: Ints, col: Ints, counts: Ints, shape: tuple[int, int]) -> Ints:
    from scipy.optimize import linear_sum_assignment

    table = np.zeros(shape)
    table[row, col] = counts
    matched_row, matched_col = linear_sum_assignment(table, maximize=True)
    partner = np.full(shape[0], -1)
    partner[matched_row] = matched_col
    return np.flatnonzero(partner[row] == col)


def _assign_sparse(row: Ints, col: Ints, counts: Ints, shape: tuple[int, int]) -> Ints:
    """Match every row, to a column of its own beyond the table where that costs nothing.

    The solver wants a matching that covers all rows and reads a zero weight as no
    edge, so the weights are turned into positive costs.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    n_rows, n_cols = shape
    dearest = float(counts.max()) + 1.0
    spare = np.arange(n_rows)
    costs = np.concatenate([dearest - counts, np.full(n_rows, dearest)])
    where = (np.concatenate([row, spare]), np.concatenate([col, n_cols + spare]))
    matched_row, matched_col = min_weight_full_bipartite_matching(
        csr_array((costs, where), shape=(n_rows, n_cols + n_rows))
    )
    partner = np.full(n_rows, -1)
    partner[matched_row] = matched_col
    return np.flatnonzero(partner[row] == col)


def _dense_codes(values: Ints) -> tuple[int, Ints]:
    distinct, codes = np.unique(values, return_inverse=True)
    return len(distinct), codes
