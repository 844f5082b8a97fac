-- squared: silhouettes with squared distances, from the clusters' sums.
SELECT
  part,
  SUM(
    CASE WHEN own_size > 1 AND own_ms + near_ms > 0
      THEN w * (near_ms - own_ms) / CASE WHEN own_ms > near_ms THEN own_ms ELSE near_ms END
      ELSE 0
    END
  ) AS squared_silhouettes,
  SUM(CASE WHEN own_size > 1 AND own_ms + near_ms = 0 THEN w ELSE 0 END) AS same_places
FROM nearest_others
GROUP BY part
