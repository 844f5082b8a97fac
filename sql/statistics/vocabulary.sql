-- vocabulary: how many values occur in the truth or in the labels.
SELECT
  part,
  COUNT(*) AS k_values
FROM (
  SELECT part, truth AS value FROM truth_sizes
  UNION
  SELECT part, label AS value FROM label_sizes
) AS occurring
GROUP BY part
