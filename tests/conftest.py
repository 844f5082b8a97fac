"""What several test files share."""

from __future__ import annotations

import pytest

# An index has one value however it was computed: by numpy kernels over the rows at once, by SQL
# aggregation, or by the kernels over one batch of rows after another.
WAYS = ("kernel", "sql", "stream")


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Make every call inside the test take one of the ways."""
    return str(request.param)
