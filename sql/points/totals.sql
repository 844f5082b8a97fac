-- totals: each feature's sums of squares within and between clusters (D 14, 21).
SELECT
  g.part,
  SUM(g.size) AS points,
  EACH(SUM(g.q)) AS t,
  EACH(SUM(g.size * (g.c - m.m) * (g.c - m.m))) AS b
FROM groups AS g
JOIN means AS m ON m.part = g.part
GROUP BY g.part
