#include "optim/parameter_rules.h"

#include <fmt/format.h>

#include "optim/optimizer.h"

namespace cloze::optim {
namespace {

bool is_vector(const graph::ValueInfo& parameter) { return parameter.type.shape.rank() == 1; }

// Names are those of transformers: the scale of a LayerNorm is the only vector that is a weight.
bool is_layer_norm_scale(const graph::ValueInfo& parameter) {
  return is_vector(parameter) && parameter.name.ends_with("weight");
}

}  // namespace

bool decays(const graph::ValueInfo& parameter, const OptimizerOptions& options) {
  if (options.decays_layer_norm_scale && is_layer_norm_scale(parameter)) return true;
  return parameter.traits.decays;
}

bool adapts(const graph::ValueInfo& parameter, const OptimizerOptions& options) {
  return options.adapts_vectors || parameter.traits.adapts;
}

std::string joined_name(const graph::ValueInfo& parameter) {
  for (const char* projection : {"query", "key", "value"}) {
    for (const char* part : {"weight", "bias"}) {
      const std::string own = fmt::format(".self.{}.{}", projection, part);
      if (!parameter.name.ends_with(own)) continue;
      const size_t kept = parameter.name.size() - own.size();
      return fmt::format("{}.self.qkv.{}", parameter.name.substr(0, kept), part);
    }
  }
  return "";
}

}  // namespace cloze::optim
