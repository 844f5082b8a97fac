-- truth_pairs: the number of true classes, and the ordered pairs of points together in one of them.
-- Ordered pairs, n * (n - 1), need no division and so stay exact integers in every dialect.
SELECT
  part,
  COUNT(*) AS k_truth,
  SUM(CAST(n_truth AS HUGEINT) * (CAST(n_truth AS HUGEINT) - 1)) AS together_truth
FROM truth_sizes
GROUP BY part
