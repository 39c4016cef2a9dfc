#include "backend/cpu/packing.h"

#include <fmt/format.h>

#include "backend/cpu/native/matmul.h"
#include "backend/cpu/packed_linear.h"
#include "base/error.h"
#include "passes/fuse.h"
#include "passes/precision.h"

namespace cloze::backend::cpu {
namespace {

struct Facts {
  int64_t panel_columns = 0;
  bool pairs = false;
};

Facts facts_here(DType weights) {
  return {panel_layout().columns, weight_packing(weights).layout == kPairLayout};
}

}  // namespace

passes::WeightPacking weight_packing(DType weights) {
  if (weights == DType::kBF16 && !refuse_native_bf16()) {
    return {.layout = kPairLayout, .dtype = weights, .is_of_activations = true};
  }
  return {.layout = panel_layout(), .dtype = weights, .joins_products = true};
}

std::vector<GraphPass> packing_passes(const passes::WeightPacking& packing) {
  std::vector<GraphPass> passes{
      {"fuse_activations", passes::fuse_activations},
      {"pack_weights", [=](graph::Graph& graph) { passes::pack_weights(graph, packing); }}};
  if (packing.is_of_activations) {
    passes.push_back({"use_compute_dtype", [dtype = packing.dtype](graph::Graph& graph) {
                        passes::use_compute_dtype(graph, dtype);
                      }});
  }
  return passes;
}

std::vector<LayoutFact> weight_layout(DType weights) {
  const Facts here = facts_here(weights);
  return {{"panel_columns", here.panel_columns}, {"pairs", here.pairs}};
}

std::optional<std::string> refuse_layout(DType weights, std::span<const LayoutFact> facts) {
  CLOZE_CHECK(facts.size() == 2, "{} facts of a layout", facts.size());
  const Facts here = facts_here(weights);
  const Facts there{std::get<int64_t>(facts[0].value), std::get<bool>(facts[1].value)};
  if (there.panel_columns != here.panel_columns) {
    return fmt::format("was packed for vectors of {} numbers; this processor's have {}",
                       there.panel_columns / 2, here.panel_columns / 2);
  }
  if (there.pairs == here.pairs) return std::nullopt;
  return fmt::format("was packed for a processor that {} bf16 itself, unlike this one",
                     there.pairs ? "multiplies" : "does not multiply");
}

}  // namespace cloze::backend::cpu
