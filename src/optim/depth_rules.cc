#include "optim/depth_rules.h"

#include <cmath>

#include "base/whole_number.h"

namespace cloze::optim {

std::optional<int64_t> depth_of(std::string_view parameter) {
  constexpr std::string_view kLayers = "bert.encoder.layer.";
  if (parameter.starts_with("bert.embeddings.")) return 0;
  if (!parameter.starts_with(kLayers)) return std::nullopt;
  parameter.remove_prefix(kLayers.size());
  const auto layer = number_in<int64_t>(parameter.substr(0, parameter.find('.')));
  return layer ? std::optional(*layer + 1) : std::nullopt;
}

bool DepthRules::freezes(std::string_view parameter) const {
  const std::optional<int64_t> depth = depth_of(parameter);
  if (!depth) return false;
  return *depth == 0 ? freezes_embeddings || frozen_layers > 0 : *depth <= frozen_layers;
}

double DepthRules::rate_factor(std::string_view parameter) const {
  const std::optional<int64_t> depth = depth_of(parameter);
  return depth ? std::pow(rate_decay, static_cast<double>(num_layers + 1 - *depth)) : 1.0;
}

}  // namespace cloze::optim
