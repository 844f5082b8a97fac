-- prayatul_counts: br, rw, wr, bw (P 1-4) as numbers for formulas.
SELECT
  part,
  CAST(br_ordered AS DOUBLE) / 2 AS br,
  CAST(rw_ordered AS DOUBLE) / 2 AS rw,
  CAST(wr_ordered AS DOUBLE) / 2 AS wr,
  CAST(bw_ordered AS DOUBLE) / 2 AS bw
FROM prayatul
