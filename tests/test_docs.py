"""What is generated is what the catalog says, and the package is whole."""

from __future__ import annotations

import re
from pathlib import Path

import sqlvalid as sv
from sqlvalid.catalog import CATALOG, page
from sqlvalid.plan import columns_of
from sqlvalid.statistics import ROOTS, folder, load, providers

ROOT = Path(__file__).resolve().parent.parent


def test_the_page_of_indices_is_generated() -> None:
    written = (ROOT / "docs" / "indices.md").read_text(encoding="utf-8")
    assert written == page.page(), "run: python -m sqlvalid.catalog.page > docs/indices.md"


def test_every_statistic_says_what_it_is() -> None:
    for file in (folder() / "statistics").iterdir():
        name = file.name.removesuffix(".sql")
        assert file.read_text(encoding="utf-8").startswith(f"-- {name}: ")
        assert load()[name].about


def test_every_statistic_is_read_by_something() -> None:
    """Dead SQL is deleted: each file serves an index, a verb or another statistic."""
    read = {name for s in load().values() for name in s.reads}
    for row in CATALOG:
        formula = row.formula.replace("{alpha}", "1")
        texts = (formula, *(case.when for case in row.undefined))
        for column in frozenset().union(*(columns_of(text) for text in texts)):
            read.add(providers()[column].name)
    verbs = {"clusters", "sample"}  # k and n of every frame
    assert set(load()) == (read | verbs) - set(ROOTS)


def test_every_public_name_has_an_example_or_is_an_error() -> None:
    for name in sv.__all__:
        thing = getattr(sv, name)
        assert thing.__doc__, name
        if not isinstance(thing, type):
            assert ">>>" in thing.__doc__, name


def test_the_version_is_told_once() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert re.search(rf'^version = "{re.escape(sv.__version__)}"$', project, re.MULTILINE)


def test_names_are_unique() -> None:
    names = [name for row in CATALOG for name in row.names]
    assert len(names) == len(set(names))
