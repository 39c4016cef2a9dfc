#include "ops/embedding.h"

#include <algorithm>

#include "backend/reference/kernels.h"

namespace cloze::backend::reference {
namespace {

CLOZE_REFERENCE_KERNEL(Embedding, Embedding);
CLOZE_REFERENCE_KERNEL_WITH_WORKSPACE(EmbeddingGradient, EmbeddingGradient);

}  // namespace

template <typename X>
void Embedding::run(const Call& call) {
  using P = Parameter<X>;
  const int32_t* input_ids = call.integers(kInputIds);
  const int32_t* token_type_ids = call.integers(kTokenTypeIds);
  const int32_t* position_ids = call.integers(kPositionIds);
  const Reader<P> word = call.read<P>(kWord);
  const Reader<P> token_type = call.read<P>(kTokenType);
  const Reader<P> position = call.read<P>(kPosition);
  const Writer<X> y = call.write<X>(kY);
  for (int64_t t = 0; t < call.output_shape(kY)[0]; ++t) {
    for (int64_t j = 0; j < call.output_shape(kY)[1]; ++j) {
      y.put(
          t, j,
          word(input_ids[t], j) + token_type(token_type_ids[t], j) + position(position_ids[t], j));
    }
  }
}

namespace {

// Output `table` gets the rows of dy, summed by ids; one column after the other, so that the sums
// of a column fit into the workspace.
template <typename X>
void put_table_gradient(const Call& call, size_t table, int64_t used_slots) {
  const Reader<X> dy = call.read<X>(EmbeddingGradient::kDy);
  const int32_t* ids = call.integers(EmbeddingGradient::kInputIds + table);
  const Writer<Parameter<X>> dtable = call.write<Parameter<X>>(table);
  const int64_t rows = call.output_shape(table)[0];
  double* sums = call.workspace();
  for (int64_t j = 0; j < call.output_shape(table)[1]; ++j) {
    std::fill(sums, sums + rows, 0.0);
    for (int64_t t = 0; t < used_slots; ++t) sums[ids[t]] += dy(t, j);
    for (int64_t row = 0; row < rows; ++row) dtable.put(row, j, sums[row]);
  }
}

}  // namespace

template <typename X>
void EmbeddingGradient::run(const Call& call) {
  const int64_t used_slots =
      call.integers(kSequenceStarts)[call.input_shape(kSequenceStarts)[0] - 1];
  for (size_t table = 0; table < 3; ++table) put_table_gradient<X>(call, table, used_slots);
}

size_t EmbeddingGradient::workspace_bytes(const KernelRequest& request) {
  int64_t most_rows = 0;
  for (const graph::TensorType& table : request.outputs) {
    most_rows = std::max(most_rows, table.shape[0]);
  }
  return sizeof(double) * static_cast<size_t>(most_rows);
}

KernelTable embedding_kernels() { return table_of<Embedding, EmbeddingGradient>(); }

}  // namespace cloze::backend::reference
