-- label_sizes: the number of points of each named cluster (Zaki & Meira: n_i).
SELECT
  part,
  label,
  SUM(n) AS n_label
FROM contingency
WHERE label IS NOT NULL
GROUP BY part, label
