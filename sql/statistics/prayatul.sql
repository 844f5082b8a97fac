-- prayatul: both right, right-wrong, wrong-right, both wrong (P 1-4) over ordered pairs of points.
-- With T all pairs and g, p, q, gp, gq, pq the pairs together in the truth, the primary, the
-- alternative and in two of them at once, inclusion and exclusion give all four counts, and the
-- pairs together in all three cancel.
-- `grouped` is 7 for T, 3 for g, 5 for p, 6 for q, 1 for gp, 2 for gq and 4 for pq.
-- A NULL label means n points each in a cluster of its own: they are together with nothing.
SELECT
  part,
  SUM(CASE WHEN grouped IN (3, 5, 6) THEN -pairs ELSE pairs END) AS br_ordered,
  SUM(CASE WHEN grouped IN (6, 1) THEN pairs WHEN grouped IN (2, 4) THEN -pairs ELSE 0 END) AS rw_ordered,
  SUM(CASE WHEN grouped IN (5, 2) THEN pairs WHEN grouped IN (1, 4) THEN -pairs ELSE 0 END) AS wr_ordered,
  SUM(CASE WHEN grouped IN (3, 4) THEN pairs WHEN grouped IN (1, 2) THEN -pairs ELSE 0 END) AS bw_ordered
FROM (
  SELECT
    part,
    GROUPING(truth, label, other) AS grouped,
    CASE
      WHEN GROUPING(label) = 0 AND label IS NULL OR GROUPING(other) = 0 AND other IS NULL THEN CAST(0 AS HUGEINT)
      ELSE CAST(SUM(n) AS HUGEINT) * (CAST(SUM(n) AS HUGEINT) - 1)
    END AS pairs
  FROM triples
  GROUP BY GROUPING SETS (
    (part), (part, truth), (part, label), (part, other),
    (part, truth, label), (part, truth, other), (part, label, other)
  )
) AS together
GROUP BY part
