-- pair_counts: yy, yn, ny, nn as numbers for formulas, and pair_determinant = yy*nn - yn*ny.
-- The determinant is the numerator of ari, hubert and phi and cancels when a clustering is
-- near chance, so it is taken in integers; from 3e9 points on its products would leave
-- 38 digits and it is taken in floating point.
SELECT
  o.part,
  CAST(o.yy_ordered AS DOUBLE) / 2 AS yy,
  CAST(o.yn_ordered AS DOUBLE) / 2 AS yn,
  CAST(o.ny_ordered AS DOUBLE) / 2 AS ny,
  CAST(o.nn_ordered AS DOUBLE) / 2 AS nn,
  CASE
    WHEN s.n < 3000000000
      THEN CAST(o.yy_ordered * o.nn_ordered - o.yn_ordered * o.ny_ordered AS DOUBLE)
    ELSE CAST(o.yy_ordered AS DOUBLE) * CAST(o.nn_ordered AS DOUBLE)
      - CAST(o.yn_ordered AS DOUBLE) * CAST(o.ny_ordered AS DOUBLE)
  END / 4 AS pair_determinant
FROM ordered_pairs AS o
JOIN sample AS s ON s.part = o.part
