-- within: each cluster's sums of squares about its centroid, feature by feature (D 12), and of
-- the distances of its points to the centroid and to the mean.
SELECT
  p.part,
  p.label,
  EACH(SUM(p.w * (p.x - k.c) * (p.x - k.c))) AS q,
  SUM(p.w * SQRT(TOTAL((p.x - k.c) * (p.x - k.c)))) AS to_centroid,
  SUM(p.w * SQRT(TOTAL((p.x - m.m) * (p.x - m.m)))) AS to_mean
FROM points AS p
JOIN centroids AS k ON k.part = p.part AND k.label = p.label
JOIN means AS m ON m.part = p.part
GROUP BY p.part, p.label
