-- radius: the squared radius of the balls of s_dbw (D 85).
SELECT
  g.part,
  SUM(SQRT(TOTAL(g.q * g.q)) / g.size) / (COUNT(*) * COUNT(*)) AS radius2
FROM groups AS g
GROUP BY g.part
