-- literal: the points whose label is their truth, and precision and recall summed over the values.
SELECT
  part,
  SUM(CASE WHEN truth = label THEN size ELSE 0 END) AS agreeing,
  SUM(CASE WHEN truth = label THEN size / size_label ELSE 0 END) AS precision_total,
  SUM(CASE WHEN truth = label THEN size / size_truth ELSE 0 END) AS recall_total
FROM cells
GROUP BY part
