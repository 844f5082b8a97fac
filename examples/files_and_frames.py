"""Score clusterings that lie in files and frames: one call, any index, any number of columns."""

from __future__ import annotations

import tempfile
from pathlib import Path

import polars as pl

import sqlvalid as sv


def main() -> None:
    df = sv.iris()

    # A frame, an alias, a prefix and a group.
    print(sv.score(df, labels="km*", truth="species", indices=["accuracy", "fo", "zaki"]))

    # A lazy pipeline: nothing is collected but the cells.
    large = df.lazy().filter(pl.col("petal_length") > 2)
    print(large.sv.score(labels=["km3", "ward3"], truth="species", indices="ari"))

    # Files, by a glob.
    with tempfile.TemporaryDirectory() as folder:
        for i, part in enumerate(df.iter_slices(50)):
            part.write_parquet(Path(folder) / f"part-{i}.parquet")
        print(sv.score(f"{folder}/*.parquet", labels="km3", truth="species", indices="nmi"))

    # A clustering with noise, under the three policies.
    for policy in ("exclude", "cluster", "singletons"):
        found = sv.score(df, "dbscan", truth="species", indices="ami", noise=-1, noise_as=policy)
        print(policy, found.select("n", "k", "ami").row(0))


if __name__ == "__main__":
    main()
