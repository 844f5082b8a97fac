-- centroids: the mean of each cluster (D 1), and the points it holds.
SELECT
  p.part,
  p.label,
  SUM(p.w) AS size,
  EACH(SUM(p.w * p.x) / SUM(p.w)) AS c
FROM points AS p
GROUP BY p.part, p.label
