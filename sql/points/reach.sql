-- reach: distances of the points to the mean (D 65).
SELECT
  part,
  SUM(to_mean) AS total_distances
FROM groups
GROUP BY part
