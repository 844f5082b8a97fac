-- entropies: in nats, each as a sum of its own terms (Z 17.2-17.4) and never as a difference of
-- two other entropies, so that a small mutual or conditional entropy keeps its digits.
SELECT
  part,
  GREATEST(0, SUM(copies * size / points * LN(size * points / (size_truth * size_label)))) AS mi_nats,
  0 - SUM(copies * size / points * LN(size / points)) AS joint_nats,
  0 - SUM(copies * size / points * LN(size_truth / points)) AS truth_nats,
  0 - SUM(copies * size / points * LN(size_label / points)) AS labels_nats,
  0 - SUM(copies * size / points * LN(size / size_label)) AS truth_given_labels_nats,
  0 - SUM(copies * size / points * LN(size / size_truth)) AS labels_given_truth_nats
FROM shapes
GROUP BY part
