-- cell_pairs: the ordered pairs of points together in the truth and in the labels (twice D's yy).
SELECT
  part,
  SUM(CASE
    WHEN label IS NULL THEN CAST(0 AS HUGEINT)
    ELSE CAST(n AS HUGEINT) * (CAST(n AS HUGEINT) - 1)
  END) AS together_both
FROM contingency
GROUP BY part
