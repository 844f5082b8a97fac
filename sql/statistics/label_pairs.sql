-- label_pairs: the number of named clusters, and the ordered pairs of points together in one of them.
SELECT
  part,
  COUNT(*) AS k_named,
  SUM(CAST(n_label AS HUGEINT) * (CAST(n_label AS HUGEINT) - 1)) AS together_labels
FROM label_sizes
GROUP BY part
