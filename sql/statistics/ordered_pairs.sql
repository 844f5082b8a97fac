-- ordered_pairs: D's yy, yn, ny, nn (section 2.1; Z 17.7-17.10) counted over ordered pairs,
-- so each is twice the figure of the papers, and an exact integer.
SELECT
  s.part,
  c.together_both AS yy_ordered,
  t.together_truth - c.together_both AS yn_ordered,
  COALESCE(l.together_labels, 0) - c.together_both AS ny_ordered,
  CAST(s.n AS HUGEINT) * (CAST(s.n AS HUGEINT) - 1)
    - t.together_truth - COALESCE(l.together_labels, 0) + c.together_both AS nn_ordered
FROM sample AS s
JOIN cell_pairs AS c ON c.part = s.part
JOIN truth_pairs AS t ON t.part = s.part
LEFT JOIN label_pairs AS l ON l.part = s.part
