"""What several test files share."""

from __future__ import annotations

import pytest

from sqlvalid.measure import batches

# An index has one value however it was computed: by kernels over points that are kept in memory,
# by SQL where the points lie, or by the kernels over one batch of points after another.
WAYS: dict[str, dict[str, int]] = {
    "kernel": {},
    "sql": {"IN_MEMORY": -1, "SQL_FEATURES": 1000, "SQL_PARTITIONS": 1000},
    "stream": {"IN_MEMORY": -1, "SQL_FEATURES": 0, "ROWS": 16},
}


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Make every call inside the test take one of the ways."""
    for name, value in WAYS[request.param].items():
        monkeypatch.setattr(batches, name, value)
    return str(request.param)
