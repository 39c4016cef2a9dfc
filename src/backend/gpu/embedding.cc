#include "ops/embedding.h"

#include <algorithm>

#include "backend/gpu/column_sums.h"
#include "backend/gpu/kernels.h"
#include "backend/gpu/matching_rows.h"
#include "base/division.h"

namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET {
namespace {

template <typename T>
struct AddTables {
  static constexpr int kThreads = 256;
  struct Table {
    Global<const int32_t> ids;
    Global<const float> rows;
    CLOZE_DEVICE float value(int64_t t, int64_t column, int64_t columns) const {
      return rows.load(int64_t{ids.load(t)} * columns + column);
    }
  };
  struct Arguments {
    Table word, token_type, position;
    Global<T> y;
    int64_t slots, columns;
  };
  CLOZE_DEVICE static void run(const Arguments& in) {
    const int64_t at = global_thread<AddTables>();
    if (at >= in.slots * in.columns) return;
    const int64_t t = at / in.columns, column = at % in.columns;
    const float sum = in.word.value(t, column, in.columns) +
                      in.token_type.value(t, column, in.columns) +
                      in.position.value(t, column, in.columns);
    in.y.store(at, from_float<T>(sum));
  }
};

struct Embedding {
  static constexpr const graph::OpDefinition& kOp = ops::kEmbedding;
  template <typename T>
  static void run(const Call& call) {
    using Op = ops::Embedding;
    using Kernel = AddTables<T>;
    const Shape& shape = call.output_shape(Op::kY);
    const auto table = [&](size_t ids, size_t rows) -> typename Kernel::Table {
      return {call.input<int32_t>(ids), call.input<float>(rows)};
    };
    call.launch<Kernel>(
        {divide_up(shape.elements(), int64_t{Kernel::kThreads})},
        {table(Op::kInputIds, Op::kWord), table(Op::kTokenTypeIds, Op::kTokenType),
         table(Op::kPositionIds, Op::kPosition), call.output<T>(Op::kY), shape[0], shape[1]});
  }
};

// Few rows, such as those of two token types, have many tokens each: they are summed in chunks of
// the tokens, which are then added in their order.
int64_t chunks_of(int64_t table_rows, int64_t tokens) {
  constexpr int64_t kBlocks = 4096;  // enough for any card
  return std::max<int64_t>(1, std::min(kBlocks / table_rows, divide_up(tokens, kChunkNumbers)));
}

struct EmbeddingGradient {
  static constexpr const graph::OpDefinition& kOp = ops::kEmbeddingGradient;
  using Op = ops::EmbeddingGradient;
  static constexpr size_t kTables = 3;  // output i has the rows that input kInputIds + i names

  // The elements of the chunks of a table; 0 when there is one.
  static int64_t part_elements(const Shape& table, int64_t tokens) {
    const int64_t chunks = chunks_of(table[0], tokens);
    return chunks > 1 ? chunks * table.elements() : 0;
  }

  static size_t workspace_bytes(const KernelRequest& request) {
    int64_t most = 0;
    for (const graph::TensorType& table : request.outputs) {
      most = std::max(most, part_elements(table.shape, request.inputs[Op::kDy].shape[0]));
    }
    return static_cast<size_t>(most) * sizeof(float);
  }

  template <typename T>
  static void sum_table(const Call& call, size_t table) {
    const int64_t tokens = call.input_shape(Op::kDy)[0];
    const Shape& shape = call.output_shape(table);
    const int64_t parts = part_elements(shape, tokens);
    const int64_t chunks = chunks_of(shape[0], tokens);
    call.launch<SumMatchingRows<T, float>>(
        {shape[0], chunks},
        {.dy = call.input<T>(Op::kDy),
         .index = call.input<int32_t>(Op::kInputIds + table),
         .starts = call.input<int32_t>(Op::kSequenceStarts),
         .out = parts > 0 ? call.workspace<float>(0, parts) : call.output<float>(table),
         .rows = shape[0],
         .columns = shape[1],
         .count = tokens,
         .num_starts = call.input_shape(Op::kSequenceStarts)[0],
         .chunks = chunks,
         .accumulates = parts == 0 && call.accumulates(table)});
    if (parts == 0) return;
    call.launch<AddChunks>({divide_up(shape.elements(), int64_t{AddChunks::kThreads})},
                           {call.workspace<const float>(0, parts), call.output<float>(table), 0,
                            chunks, shape.elements(), call.accumulates(table)});
  }

  template <typename T>
  static void run(const Call& call) {
    for (size_t table = 0; table < kTables; ++table) sum_table<T>(call, table);
  }
};

}  // namespace

KernelTable embedding_kernels() { return table_of<Embedding, EmbeddingGradient>(); }

}  // namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET
