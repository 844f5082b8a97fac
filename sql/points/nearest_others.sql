-- nearest_others: of each point, the squared distance to its own centroid and to the nearest other
-- one, and the mean squared distances to the points of its cluster and of the nearest other one.
SELECT
  part,
  point,
  label,
  w,
  MAX(CASE WHEN other = label THEN size END) AS own_size,
  MAX(CASE WHEN other = label THEN SQRT(away2) END) AS own,
  MIN(CASE WHEN other <> label THEN SQRT(away2) END) AS near,
  MAX(
    CASE WHEN other = label AND size > 1 THEN (away2 + dispersion) * size / (size - 1) ELSE 0 END
  ) AS own_ms,
  MIN(CASE WHEN other <> label THEN away2 + dispersion END) AS near_ms
FROM reaches
GROUP BY part, point, label, w
