#include "backend/cpu/packed_linear_scheme.h"

#include <algorithm>

#include "base/error.h"

namespace cloze::backend::cpu {
namespace {

SchemeStep step_of(std::span<const SchemeProduct> products, size_t index) {
  const SchemeProduct& product = products[index];
  SchemeStep step{product.operand, product.block};
  for (int q = 0; q < 4; ++q) {
    if (product.y[q] == 0) continue;
    const auto adds = [q](const SchemeProduct& other) { return other.y[q] != 0; };
    CLOZE_CHECK(step.num_targets < 2, "a product is added to at most two parts");
    step.targets[step.num_targets++] = {
        .quadrant = q,
        .factor = static_cast<float>(product.y[q]),
        .is_first = std::ranges::none_of(products.first(index), adds),
        .is_last = std::ranges::none_of(products.subspan(index + 1), adds)};
  }
  return step;
}

}  // namespace

std::vector<SchemeStep> steps_of(const Scheme& scheme) {
  std::vector<SchemeStep> steps;
  for (size_t i = 0; i < scheme.products.size(); ++i) {
    steps.push_back(step_of(scheme.products, i));
  }
  return steps;
}

}  // namespace cloze::backend::cpu
