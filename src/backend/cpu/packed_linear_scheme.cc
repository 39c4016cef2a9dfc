#include "backend/cpu/packed_linear_scheme.h"

#include <algorithm>

#include "base/error.h"

namespace cloze::backend::cpu {
namespace {

SchemeStep step_of(std::span<const SchemeProduct> products, size_t index) {
  const SchemeProduct& product = products[index];
  const QuadrantTerms y = terms_of(product.y);
  SchemeStep step{product.operand, product.block, y.count};
  for (int n = 0; n < y.count; ++n) {
    const int q = y.quadrant[n];
    const auto adds = [q](const SchemeProduct& other) { return other.y[q] != 0; };
    step.targets[n] = {.quadrant = q,
                       .factor = y.factor[n],
                       .is_first = std::ranges::none_of(products.first(index), adds),
                       .is_last = std::ranges::none_of(products.subspan(index + 1), adds)};
  }
  return step;
}

}  // namespace

QuadrantTerms terms_of(const Quadrants& factors) {
  QuadrantTerms terms;
  for (int q = 0; q < 4; ++q) {
    if (factors[q] == 0) continue;
    CLOZE_CHECK(terms.count < 2, "a sum of more than two quadrants");
    terms.quadrant[terms.count] = q;
    terms.factor[terms.count++] = static_cast<float>(factors[q]);
  }
  return terms;
}

std::vector<QuadrantTerms> operands_of(const Scheme& scheme) {
  std::vector<QuadrantTerms> operands;
  for (const Quadrants& factors : scheme.operands) {
    const QuadrantTerms terms = operands.emplace_back(terms_of(factors));
    CLOZE_CHECK(terms.count == 2 || terms.factor[0] == 1.0f, "a quadrant times {}",
                terms.factor[0]);
  }
  return operands;
}

std::vector<SchemeStep> steps_of(const Scheme& scheme) {
  std::vector<SchemeStep> steps;
  for (size_t i = 0; i < scheme.products.size(); ++i) {
    steps.push_back(step_of(scheme.products, i));
  }
  return steps;
}

}  // namespace cloze::backend::cpu
