-- centroid_pairs: every two clusters, both ways: the distance of their centroids, and the sums of
-- their mean distances and of their root mean squared distances to their centroids.
SELECT
  a.part,
  a.label,
  b.label AS other,
  a.size,
  b.size AS other_size,
  SQRT(TOTAL((a.c - b.c) * (a.c - b.c))) AS apart,
  a.to_centroid / a.size + b.to_centroid / b.size AS mean_spread,
  SQRT(a.ss / a.size) + SQRT(b.ss / b.size) AS rms_spread
FROM groups AS a
JOIN groups AS b ON b.part = a.part AND b.label <> a.label
