-- groups: what is known of each cluster: size, centroid, sums of squares, sums of distances.
SELECT
  k.part,
  k.label,
  k.size,
  EACH(k.c) AS c,
  EACH(w.q) AS q,
  TOTAL(w.q) AS ss,
  w.to_centroid,
  w.to_mean
FROM centroids AS k
JOIN within AS w ON w.part = k.part AND w.label = k.label
