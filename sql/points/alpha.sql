-- alpha: sd_dis of the partition with most clusters, which is the only one of a statement.
SELECT
  part,
  CASE
    WHEN centroid_min > 0 THEN centroid_max / centroid_min * inverse_separations
  END AS sd_alpha
FROM separation
