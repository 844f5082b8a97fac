-- cells: every cell of the contingency table with the sizes of its row and column.
-- Points that stand alone are `copies` cells of size 1 in clusters of size 1.
SELECT
  c.part,
  c.truth,
  c.label,
  CAST(CASE WHEN c.label IS NULL THEN 1 ELSE c.n END AS DOUBLE) AS size,
  CAST(CASE WHEN c.label IS NULL THEN c.n ELSE 1 END AS DOUBLE) AS copies,
  CAST(t.n_truth AS DOUBLE) AS size_truth,
  CAST(COALESCE(l.n_label, 1) AS DOUBLE) AS size_label,
  CAST(s.n AS DOUBLE) AS points
FROM contingency AS c
JOIN sample AS s ON s.part = c.part
JOIN truth_sizes AS t ON t.part = c.part AND t.truth = c.truth
LEFT JOIN label_sizes AS l ON l.part = c.part AND l.label = c.label
