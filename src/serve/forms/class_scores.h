// Scores of classes from their logits, as TEI and Jina send them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/bert_heads.h"
#include "serve/answer.h"
#include "serve/limits.h"

namespace cloze::serve {

// A probability for each class: softmax; the sigmoid of a single class, or where several may hold.
// Raw: the logits.
std::vector<float> class_scores(std::span<const float> logits, const models::BertHead& head,
                                bool is_raw);
// Places in the order of the scores, the largest first; equal ones in their own order.
std::vector<size_t> best_first(std::span<const float> scores);
// Failure when the answers would list more candidates than a batch may.
void check_candidates(std::span<const Input> inputs, const Limits& limits);

}  // namespace cloze::serve
