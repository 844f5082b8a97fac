-- separations: each cluster against all others.
SELECT
  part,
  label,
  MAX(apart) AS farthest,
  MIN(apart) AS nearest,
  SUM(apart) AS apart_total,
  SUM(apart * apart / (1 / size + 1 / other_size)) AS ss_total,
  MAX(CASE WHEN apart > 0 THEN mean_spread / apart ELSE 0 END) AS similarity,
  MAX(CASE WHEN apart > 0 THEN rms_spread / apart ELSE 0 END) AS similarity_rms
FROM centroid_pairs
GROUP BY part, label
