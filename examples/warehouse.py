"""Score where the tables are: a DuckDB database, aggregated data, and SQL for other engines."""

from __future__ import annotations

import duckdb

import sqlvalid as sv


def main() -> None:
    con = duckdb.connect()
    con.execute(
        """CREATE TABLE assignments AS
        SELECT i % 7 AS gold, i % 14 AS seg_v1, (i * i) % 7 AS seg_v2
        FROM range(1_000_000) AS r(i)"""
    )

    # A table of the connection; nothing is created on it.
    print(sv.score("assignments", labels="seg*", truth="gold", indices="pairs", con=con))

    # What would be done, before it is done.
    print(sv.explain("assignments", labels="seg*", truth="gold", indices="ari", con=con))

    # The same from a table that is already aggregated: 98 rows for a million.
    con.execute(
        """CREATE TABLE cells AS
        SELECT gold, seg_v1, seg_v2, count(*) AS row_count FROM assignments GROUP BY ALL"""
    )
    print(sv.score("cells", labels="seg*", truth="gold", weight="row_count", con=con))

    # One statement for an engine that is not here; on DuckDB it gives the same.
    print(
        sv.sql(["ari", "nmi"], table="assignments", truth="gold", label="seg_v1", dialect="trino")
    )
    text = sv.sql(["ari", "nmi"], table="assignments", truth="gold", label="seg_v1")
    print(con.sql(text))
    con.close()


if __name__ == "__main__":
    main()
