-- neighbours: points between their own and the nearest other centroid (D 107, V 2.1.7, 2.1.8).
SELECT
  o.part,
  MAX(r.kept) AS gancarski,
  SUM(
    CASE WHEN o.own_size > 1 AND o.own + o.near > 0
      THEN o.w * (o.near - o.own) / CASE WHEN o.own > o.near THEN o.own ELSE o.near END
      ELSE 0
    END
  ) AS simplified,
  SUM(CASE WHEN o.own_size > 1 THEN o.w * o.near / (o.own + 0.000001) ELSE 0 END) AS alternative,
  SUM(CASE WHEN o.near > 0 THEN 0 ELSE o.w END) AS on_other_centroid,
  SUM(CASE WHEN o.own_size > 1 AND o.own + o.near = 0 THEN o.w ELSE 0 END) AS on_both_centroids
FROM nearest_others AS o
JOIN ratios AS r ON r.part = o.part
GROUP BY o.part
