-- variances: norms of the variances of the clusters and of all points (D 78-80).
SELECT
  g.part,
  SUM(SQRT(TOTAL(g.q * g.q)) / g.size) AS variance_norms,
  MAX(SQRT(TOTAL((s.b + s.t) * (s.b + s.t))) / s.points) AS variance_norm
FROM groups AS g
JOIN totals AS s ON s.part = g.part
GROUP BY g.part
