#include "serve/forms/class_scores.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "serve/failure.h"
#include "tasks/logits.h"

namespace cloze::serve {

std::vector<float> class_scores(std::span<const float> logits, const models::BertHead& head,
                                bool is_raw) {
  std::vector<float> scores;
  if (is_raw) {
    scores.assign(logits.begin(), logits.end());
  } else if (head.is_multi_label || logits.size() == 1) {
    for (const float logit : logits) scores.push_back(static_cast<float>(tasks::sigmoid(logit)));
  } else {
    for (const double share : tasks::softmax(logits)) scores.push_back(static_cast<float>(share));
  }
  return scores;
}

std::vector<size_t> best_first(std::span<const float> scores) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater(), [&](size_t i) { return scores[i]; });
  return order;
}

void check_candidates(std::span<const Input> inputs, const Limits& limits) {
  int64_t candidates = 0;
  for (const Input& input : inputs) candidates += input.candidates;
  if (candidates <= limits.queue.batch_candidates) return;
  refuse(Trouble::kTooLarge, "the reply would list {} candidates, more than {}; send less at once",
         candidates, limits.queue.batch_candidates);
}

}  // namespace cloze::serve
