-- clusters: the number of clusters of each partition, points that stand alone included.
SELECT
  s.part,
  COALESCE(l.k_named, 0) + s.alone AS k
FROM sample AS s
LEFT JOIN label_pairs AS l ON l.part = s.part
