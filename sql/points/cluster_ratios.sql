-- cluster_ratios: the sum over each cluster's points of the ratio of their distances to the own and
-- the nearest other centroid (D 104).
SELECT
  part,
  label,
  SUM(w) AS points,
  SUM(CASE WHEN near > 0 THEN w * own / near ELSE 0 END) AS ratios
FROM nearest_others
GROUP BY part, label
