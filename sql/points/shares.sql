-- shares: the share of each feature's sum of squares that lies between clusters (D 73, V 31).
SELECT
  s.part,
  TOTAL(CASE WHEN s.b + s.t > 0 THEN s.b / (s.b + s.t) ELSE 0 END) AS shares,
  TOTAL(CASE WHEN s.b + s.t > 0 THEN SQRT(s.b / (s.b + s.t)) ELSE 0 END) AS root_shares,
  TOTAL(CASE WHEN s.b + s.t > 0 THEN 0 ELSE 1 END) AS constant_features
FROM totals AS s
