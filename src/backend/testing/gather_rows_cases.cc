#include "ops/gather_rows.h"

#include "backend/testing/kernel_case.h"
#include "backend/testing/kernel_sweep.h"

namespace cloze::backend::testing {
namespace {

struct RowSizes {
  int64_t slots, picked, hidden;
};

void add_cases(std::vector<KernelCase>& cases, const RowSizes& sizes, DType dtype) {
  const auto [slots, picked, hidden] = sizes;
  const graph::TensorType index{DType::kI32, {picked}};
  cases.push_back({.name = "repeated rows",
                   .op = &ops::kGatherRows,
                   .inputs = {{dtype, {slots, hidden}}, index},
                   .prepare = [slots](auto& inputs, Random& random) {
                     fill_below(inputs[ops::GatherRows::kIndex], random, slots);
                   }});
  // Unused entries name row 0 with a zero gradient.
  const auto prepare = [picked, slots, hidden](std::vector<Tensor>& inputs, Random& random) {
    Tensor& index = inputs[ops::ScatterRows::kIndex];
    fill_below(index, random, slots);
    const int64_t used = picked - picked / 4;
    for (int64_t p = used; p < picked; ++p) {
      index.values[p] = 0.0;
      for (int64_t j = 0; j < hidden; ++j)
        inputs[ops::ScatterRows::kDy].values[p * hidden + j] = 0.0;
    }
  };
  cases.push_back({.name = "repeated rows",
                   .op = &ops::kScatterRows,
                   .attributes = ops::ScatterRowsAttributes{slots},
                   .inputs = {{dtype, {picked, hidden}}, index},
                   .prepare = prepare,
                   .summed_terms = picked,
                   .through_storage = {ops::ScatterRows::kDx},
                   .why_zeros = "rows that no entry names get no gradient"});
}

}  // namespace

std::vector<KernelCase> gather_rows_cases(DType dtype) {
  std::vector<KernelCase> cases;
  for (const RowSizes& sizes : {RowSizes{1, 1, 1}, {7, 5, 13}, {31, 64, 33}, {64, 12, 128}}) {
    add_cases(cases, sizes, dtype);
  }
  return cases;
}

std::vector<KernelCase> gather_rows_sweep(DType dtype, const SweepExtents& extents) {
  std::vector<RowSizes> sizes;
  for (const int64_t hidden : extents.up_to(kSweptChannels, {8, 16})) {
    sizes.push_back({12, 7, hidden});
  }
  for (const int64_t slots : extents.up_to(kSweptRows, {64})) sizes.push_back({slots, 9, 5});
  for (const int64_t picked : extents.up_to(kSweptRows, {64})) sizes.push_back({9, picked, 5});
  // Enough elements for several threads.
  for (const int64_t slots : SweepExtents::around(2 * 16384 / 64, {16384 / 64})) {
    sizes.push_back({slots, slots / 2, 64});
  }
  SweepCases sweep;
  sweep.add_each(sizes,
                 [&](auto& family, const RowSizes& rows) { add_cases(family, rows, dtype); });
  return sweep.take();
}

}  // namespace cloze::backend::testing
