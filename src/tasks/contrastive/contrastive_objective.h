// The objective of a step of contrastive training: a loss of the table on the vectors or, "Matryoshka",
// on their beginnings, so that these serve as shorter vectors:
//
//   L = sum_k w_k loss(first d_k numbers of each vector, made of length 1)
//
// Without d_k the loss sees the vectors as the model gives them, made of length 1 where the model's
// layers end with that. Source: Kusupati et al., arXiv 2205.13147; sentence-transformers'
// MatryoshkaLoss.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/vector_loss.h"
#include "tasks/contrastive/contrastive_losses.h"

namespace cloze::tasks {

struct ContrastiveObjective {
  std::string loss = "multiple_negatives";
  LossSettings settings;
  std::vector<int64_t> dimensions = {};  // d_k; empty: all, once
  std::vector<double> weights = {};      // w_k; empty: all 1
  bool is_normalized = false;            // the model's vectors have length 1

  // UserError for an unknown loss, and for dimensions that the model's vectors lack.
  models::VectorLoss vector_loss(int64_t texts_per_sample, int64_t vector_dimensions) const;
};

}  // namespace cloze::tasks
