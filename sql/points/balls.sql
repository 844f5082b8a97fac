-- balls: of every two clusters, the points of both that lie near the centroid of the one, near that
-- of the other, and near the point midway.
SELECT
  a.part,
  a.label,
  b.label AS other,
  SUM(
    CASE WHEN TOTAL((p.x - a.c) * (p.x - a.c)) < r.radius2 THEN p.w ELSE 0 END
  ) AS near_one,
  SUM(
    CASE WHEN TOTAL((p.x - b.c) * (p.x - b.c)) < r.radius2 THEN p.w ELSE 0 END
  ) AS near_other,
  SUM(
    CASE
      WHEN TOTAL((p.x - (a.c + b.c) / 2) * (p.x - (a.c + b.c) / 2)) < r.radius2 THEN p.w
      ELSE 0
    END
  ) AS midway
FROM groups AS a
JOIN groups AS b ON b.part = a.part AND b.label > a.label
JOIN radius AS r ON r.part = a.part
JOIN points AS p ON p.part = a.part AND (p.label = a.label OR p.label = b.label)
GROUP BY a.part, a.label, b.label
