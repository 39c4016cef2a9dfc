#include "ops/gather_rows.h"

#include <algorithm>

#include "backend/reference/kernels.h"

namespace cloze::backend::reference {
namespace {

CLOZE_REFERENCE_KERNEL(GatherRows, GatherRows);
CLOZE_REFERENCE_KERNEL_WITH_WORKSPACE(ScatterRows, ScatterRows);

}  // namespace

template <typename X>
void GatherRows::run(const Call& call) {
  const Reader<X> x = call.read<X>(kX);
  const int32_t* index = call.integers(kIndex);
  const Writer<X> y = call.write<X>(kY);
  for (int64_t p = 0; p < call.output_shape(kY)[0]; ++p) {
    for (int64_t j = 0; j < call.output_shape(kY)[1]; ++j) y.put(p, j, x(index[p], j));
  }
}

template <typename X>
void ScatterRows::run(const Call& call) {
  const Reader<X> dy = call.read<X>(kDy);
  const int32_t* index = call.integers(kIndex);
  const Writer<X> dx = call.write<X>(kDx);
  const int64_t rows = call.output_shape(kDx)[0];
  double* sums = call.workspace();
  for (int64_t j = 0; j < call.output_shape(kDx)[1]; ++j) {
    std::fill(sums, sums + rows, 0.0);
    for (int64_t p = 0; p < call.input_shape(kDy)[0]; ++p) sums[index[p]] += dy(p, j);
    for (int64_t t = 0; t < rows; ++t) dx.put(t, j, sums[t]);
  }
}

size_t ScatterRows::workspace_bytes(const KernelRequest& request) {
  return sizeof(double) * static_cast<size_t>(request.outputs[kDx].shape[0]);
}

KernelTable gather_rows_kernels() { return table_of<GatherRows, ScatterRows>(); }

}  // namespace cloze::backend::reference
