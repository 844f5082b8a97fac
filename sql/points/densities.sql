-- densities: densities about centroids and midway between them (D 86).
SELECT
  part,
  SUM(
    CASE WHEN near_one + near_other > 0
      THEN midway / CASE WHEN near_one > near_other THEN near_one ELSE near_other END
      ELSE 0
    END
  ) AS densities,
  SUM(CASE WHEN near_one + near_other > 0 THEN 0 ELSE 1 END) AS empty_balls
FROM balls
GROUP BY part
