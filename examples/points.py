"""Score clusterings by the points they were made from: no truth is needed."""

from __future__ import annotations

import duckdb
import polars as pl

import sqlvalid as sv

FLOWERS = ["sepal_length", "sepal_width", "petal_length", "petal_width"]


def main() -> None:
    df = sv.iris()

    # Every index that one or two scans can give, for four clusterings at once.
    print(sv.score(df, labels="km*", features=FLOWERS))

    # Internal and external indices side by side; features brought to one scale.
    some = ["calinski_harabasz", "davies_bouldin", "ari"]
    found = sv.score(
        df, labels="km*", features=FLOWERS, truth="species", standardize=True, indices=some
    )
    print(found)

    # An embedding: one column of arrays, in a table of DuckDB.
    with duckdb.connect() as con:
        con.register("frame", df)
        values = ", ".join(FLOWERS)
        con.execute(f"CREATE TABLE points AS SELECT [{values}]::DOUBLE[4] AS e, km3 FROM frame")
        print(sv.score("points", labels="km3", features="e", indices="vendramin", con=con))

    # Where the clusters are, and how they lie.
    print(sv.centroids(df, "km3", FLOWERS))
    print(sv.scatter(df, "km3", FLOWERS).filter(pl.col("matrix") == "W"))

    # What a call would do, and the same as one statement for another engine.
    print(sv.explain(df, "km3", features=FLOWERS, indices="davies_bouldin"))
    print(sv.sql("davies_bouldin", table="t", label="km3", features=FLOWERS, dialect="postgres"))


if __name__ == "__main__":
    main()
