-- spread: distances of the points to their centroids (D 34, 64).
SELECT
  g.part,
  SUM(g.to_centroid) AS within_distances,
  SUM(s.similarity) AS similarities
FROM groups AS g
JOIN separations AS s ON s.part = g.part AND s.label = g.label
GROUP BY g.part
