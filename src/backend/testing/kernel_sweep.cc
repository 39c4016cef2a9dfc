#include "backend/testing/kernel_sweep.h"

#include <algorithm>
#include <set>

namespace cloze::backend::testing {
namespace {

constexpr int64_t kThinStep = 97;

constexpr std::vector<KernelCase> (*kFamilies[])(DType, const SweepExtents&) = {
#define CLOZE_CASES(family) family##_sweep,
    CLOZE_OPERATOR_FAMILIES(CLOZE_CASES)
#undef CLOZE_CASES
};

void append(std::vector<KernelCase>& cases, std::vector<KernelCase> more) {
  for (KernelCase& one : more) cases.push_back(std::move(one));
}

}  // namespace

std::vector<int64_t> SweepExtents::up_to(int64_t last, std::initializer_list<int64_t> units) const {
  std::set<int64_t> extents;
  const int64_t step = is_thin() ? kThinStep : 1;
  for (int64_t i = 1; i <= last; i += step) extents.insert(i);
  for (const int64_t unit : units) {
    for (const int64_t i : around(std::min(last, 2 * unit + 1), {unit})) extents.insert(i);
  }
  return {extents.begin(), extents.end()};
}

std::vector<int64_t> SweepExtents::around(int64_t last, std::initializer_list<int64_t> units) {
  std::set<int64_t> extents;
  for (const int64_t unit : units) {
    for (int64_t multiple = unit; multiple <= last; multiple += unit) {
      for (const int64_t i : {multiple - 1, multiple, multiple + 1}) {
        if (i > 0 && i <= last) extents.insert(i);
      }
    }
  }
  return {extents.begin(), extents.end()};
}

// Each round through the cases of an operator begins one case later, so that sizes with the same
// period as the cases do not always meet the same one.
void SweepCases::add(std::vector<KernelCase> family) {
  std::vector<const graph::OpDefinition*> operators;
  for (const KernelCase& one : family) {
    if (std::ranges::count(operators, one.op) == 0) operators.push_back(one.op);
  }
  for (const graph::OpDefinition* op : operators) {
    const auto is_of_op = [op](const KernelCase& one) { return one.op == op; };
    const auto count = static_cast<size_t>(std::ranges::count_if(family, is_of_op));
    size_t skipped = (turn_ + turn_ / count) % count;
    const auto chosen = std::ranges::find_if(
        family, [&](const KernelCase& one) { return is_of_op(one) && skipped-- == 0; });
    cases_.push_back(std::move(*chosen));
  }
  ++turn_;
}

std::vector<KernelCase> parameter_cases(const AddCases& add) {
  std::vector<KernelCase> cases;
  for (const Shape& shape : {Shape{1}, Shape{7}, Shape{33, 17}, Shape{1031}}) add(cases, shape);
  return cases;
}

std::vector<KernelCase> parameter_sweep(const SweepExtents& extents, const AddCases& add) {
  std::vector<int64_t> sizes = extents.up_to(kSweptColumns, {8, 16, 64});
  for (const int64_t elements : SweepExtents::around(kSweptElements, {16384, 32768})) {
    sizes.push_back(elements);
  }
  SweepCases sweep;
  sweep.add_each(sizes, [&](auto& family, int64_t elements) { add(family, {elements}); });
  return sweep.take();
}

std::vector<KernelCase> sweep_cases(DType dtype, SweepDensity density) {
  const SweepExtents extents(density);
  std::vector<KernelCase> cases;
  for (const auto& family : kFamilies) append(cases, family(dtype, extents));
  return cases;
}

}  // namespace cloze::backend::testing
