-- dispersion: sums of squares within and between clusters (D 16, 23, 30, 31).
SELECT
  g.part,
  CAST(TOTAL(1) AS DOUBLE) AS p,
  SUM(g.ss) AS wgss,
  SUM(g.size * TOTAL((g.c - m.m) * (g.c - m.m))) AS bgss,
  SUM(g.ss / g.size) AS mean_dispersions,
  SUM(CASE WHEN g.ss > 0 THEN g.size * LN(g.ss / g.size) ELSE 0 END) AS dispersion_logs,
  SUM(CASE WHEN g.ss > 0 THEN 0 ELSE 1 END) AS flat_clusters
FROM groups AS g
JOIN means AS m ON m.part = g.part
GROUP BY g.part
