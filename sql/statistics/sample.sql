-- sample: the number of points of each partition, and how many of them stand alone.
-- A NULL label in the contingency means n points, each in a cluster of its own
-- (noise_as = 'singletons'); NULL labels of the data never get this far.
SELECT
  part,
  SUM(n) AS n,
  SUM(CASE WHEN label IS NULL THEN n ELSE 0 END) AS alone
FROM contingency
GROUP BY part
