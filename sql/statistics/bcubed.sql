-- bcubed: for each point the share of its cluster (of its class) that is of its class (in its
-- cluster), itself included, averaged over the points; LEAST takes off what rounding may add.
SELECT
  part,
  LEAST(1, SUM(copies * size / points * (size / size_label))) AS bcubed_p,
  LEAST(1, SUM(copies * size / points * (size / size_truth))) AS bcubed_r
FROM shapes
GROUP BY part
