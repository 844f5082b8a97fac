-- means: the mean of all points (D 2).
SELECT
  part,
  SUM(size) AS points,
  EACH(SUM(size * c) / SUM(size)) AS m
FROM centroids
GROUP BY part
