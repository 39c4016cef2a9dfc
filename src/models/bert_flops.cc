#include "models/bert_flops.h"

namespace cloze::models {

double forward_flops(const BertConfig& config, const BatchWork& work) {
  const auto H = static_cast<double>(config.hidden_size);
  const auto F = static_cast<double>(config.intermediate_size);
  const auto L = static_cast<double>(config.num_hidden_layers);
  const auto V = static_cast<double>(config.vocab_size);
  const double transform = config.use_cls_layer ? 2.0 * H * H : 0.0;
  return work.tokens * L * (8.0 * H * H + 4.0 * H * F) + 4.0 * H * L * work.squared_lengths +
         work.predictions * (2.0 * H * V + transform);
}

}  // namespace cloze::models
