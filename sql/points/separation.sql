-- separation: distances between centroids (D 63, 75, 83; V 46; Davies-Bouldin of Z).
SELECT
  part,
  MAX(farthest) AS centroid_max,
  MIN(nearest) AS centroid_min,
  SUM(CASE WHEN apart_total > 0 THEN 1 / apart_total ELSE 0 END) AS inverse_separations,
  SUM(ss_total) / 2 AS pair_ss,
  SUM(similarity_rms) AS similarities_rms
FROM separations
GROUP BY part
