-- shapes: the cells with equal sizes as one row each. A million singletons are one shape, so that
-- a sum over them is one product and not a million additions with their rounding.
SELECT
  c.part,
  c.size,
  c.size_truth,
  c.size_label,
  c.points,
  SUM(c.copies) AS copies
FROM cells AS c
GROUP BY c.part, c.size, c.size_truth, c.size_label, c.points
