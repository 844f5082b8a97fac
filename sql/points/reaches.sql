-- reaches: the squared distance of every point to every centroid.
SELECT
  p.part,
  p.point,
  p.label,
  p.w,
  g.label AS other,
  g.size,
  g.ss / g.size AS dispersion,
  TOTAL((p.x - g.c) * (p.x - g.c)) AS away2
FROM points AS p
JOIN groups AS g ON g.part = p.part
