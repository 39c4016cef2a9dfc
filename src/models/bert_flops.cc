#include "models/bert_flops.h"

namespace cloze::models {

namespace {

// FLOPs of one token in the products of one layer.
double layer_flops(const BertConfig& config) {
  const auto H = static_cast<double>(config.hidden_size);
  const auto F = static_cast<double>(config.intermediate_size);
  const double attention = 8.0 * H * H;
  if (!config.groupbert) return attention + 4.0 * H * F;
  const auto G = static_cast<double>(config.groupbert_ffn_output_groups);
  const double mixer = config.groupbert_ffn_output_groups == 1 ? 0.0 : 2.0 * H * H;
  const double feed_forward = 2.0 * H * F + 2.0 * H * F / G + mixer;
  const double convolution = 2.0 * H * static_cast<double>(config.groupbert_conv_group_size) *
                             static_cast<double>(config.groupbert_conv_kernel_size);
  return attention + 2.0 * feed_forward + 6.0 * H * H + convolution;
}

}  // namespace

double forward_flops(const BertConfig& config, const BatchWork& work) {
  const auto H = static_cast<double>(config.hidden_size);
  const auto L = static_cast<double>(config.num_hidden_layers);
  const auto V = static_cast<double>(config.vocab_size);
  const double transform = config.use_cls_layer ? 2.0 * H * H : 0.0;
  return work.tokens * L * layer_flops(config) + 4.0 * H * L * work.squared_lengths +
         work.predictions * (2.0 * H * V + transform);
}

double training_flops(const BertConfig& config, const BatchWork& work, int64_t frozen_layers) {
  BertConfig trained = config;
  trained.num_hidden_layers -= frozen_layers;
  return forward_flops(config, work) + 2.0 * forward_flops(trained, work);
}

}  // namespace cloze::models
