-- majority: over the clusters, the points of each one's majority class and its F (Z 17.1).
-- Where two classes share the majority the smaller class counts, which gives the larger F and
-- does not depend on the names of the classes.
SELECT
  part,
  SUM(copies * size) AS majority_points,
  SUM(copies * 2 * size / (size_label + size_truth)) AS f_total
FROM (
  SELECT
    part,
    label,
    size,
    copies,
    size_truth,
    size_label,
    ROW_NUMBER() OVER (PARTITION BY part, label ORDER BY size DESC, size_truth) AS place
  FROM cells
) AS ranked
WHERE place = 1 OR label IS NULL
GROUP BY part
