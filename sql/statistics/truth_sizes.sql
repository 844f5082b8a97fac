-- truth_sizes: the number of points of each true class (Zaki & Meira: m_j).
SELECT
  part,
  truth,
  SUM(n) AS n_truth
FROM contingency
GROUP BY part, truth
