-- sample: the number of points of each partition, and how many of them stand alone.
-- A NULL label in the contingency means n points, each in a cluster of its own
-- (noise_as = 'singletons'); NULL labels of the data never get this far.
SELECT
  c.part,
  SUM(c.n) AS n,
  SUM(CASE WHEN c.label IS NULL THEN c.n ELSE 0 END) AS alone
FROM contingency AS c
GROUP BY c.part
