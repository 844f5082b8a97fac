-- ratios: what is left of each cluster when its ratios are taken off, never below 0 (D 107).
SELECT
  part,
  SUM(CASE WHEN ratios < points THEN points - ratios ELSE 0 END) AS kept
FROM cluster_ratios
GROUP BY part
