"""Names that people give, as quoted identifiers of SQL; never pasted, never parsed as SQL."""

from __future__ import annotations

import re

from sqlglot import exp


def column(name: str, table: str = "src") -> exp.Column:
    """A column that a user named: quoted, and qualified by the table's alias.

    >>> column('a "b" c').sql("duckdb")
    'src."a ""b"" c"'
    """
    return exp.column(exp.to_identifier(name, quoted=True), table=table)


def table(*parts: str) -> exp.Table:
    """A table by the parts of its name (catalog, schema, name), each quoted.

    >>> table("main", "t; DROP TABLE t").sql("duckdb")
    '"main"."t; DROP TABLE t"'
    """
    quoted: list[exp.Identifier | None] = [exp.to_identifier(part, quoted=True) for part in parts]
    catalog, schema, name = [None] * (3 - len(quoted)) + quoted
    return exp.Table(this=name, db=schema, catalog=catalog)


def split_name(name: str) -> list[str]:
    """Split a table name at its dots, as SQL would; quoted parts keep theirs.

    >>> split_name('main."my.table"')
    ['main', 'my.table']
    """
    parts = re.findall(r'"(?:[^"]|"")+"|[^."]+', name)
    if ".".join(parts) != name or not 1 <= len(parts) <= 3:
        return [name]
    return [p[1:-1].replace('""', '"') if p.startswith('"') else p for p in parts]
