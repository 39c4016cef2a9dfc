#include "backend/cpu/native/vocabulary.h"

#include "backend/cpu/native/pair_packing.h"
#include "backend/cpu/workspace.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/native/vocabulary.cc"
#include <hwy/foreach_target.h>

#include "backend/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {

// Rows of dtable from sums that lie `stride` apart.
void put_dtable(const float* sums, int64_t stride, int64_t rows, int64_t width, bool adds,
                float* dtable) {
  for (int64_t i = 0; i < rows; ++i, sums += stride, dtable += width) {
    adds ? AddFloats(sums, width, dtable) : CopyFloats(sums, width, dtable);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cloze::backend::cpu {

HWY_EXPORT(put_dtable);

namespace {

constexpr int64_t kChunk = VocabularySoftmax::kChunkRows;
static_assert(kChunk % kPairProductRows == 0 && kChunk % kPairStep == 0);
static_assert(VocabularySoftmax::kMostColumns % kPairStep == 0);

// R and H in whole steps of a product.
struct LogitsBuffers {
  LogitsBuffers(const VocabularySizes& sizes, void* memory) : workspace(memory) {
    const int64_t H = whole_pair_steps(sizes.width);
    table_elements = kChunk * H;
    logits_elements = sizes.has_gradient ? 0 : kChunk * sizes.columns;
    x_by_depth = workspace.take<bfloat16>(sizes.columns * H);
    table = workspace.take<bfloat16>(sizes.num_threads * table_elements);
    logits = workspace.take<float>(sizes.num_threads * logits_elements);
  }

  Workspace workspace;
  int64_t table_elements, logits_elements;
  bfloat16* x_by_depth;  // panels of x^T [H, R]
  bfloat16* table;       // a chunk [96, H], per thread
  float* logits;         // a chunk [96, R], per thread; none where they are kept
};

struct GradientBuffers {
  GradientBuffers(const VocabularySizes& sizes, void* memory) : workspace(memory) {
    const int64_t H = whole_pair_steps(sizes.width);
    const int64_t R = sizes.columns;
    slice_floats = R * H;
    x = workspace.take<bfloat16>(R * H);
    slices = workspace.take<float>(sizes.slices() * slice_floats);
    thread_bytes = Thread(sizes, nullptr).workspace.bytes();
    threads = workspace.take<char>(sizes.num_threads * static_cast<int64_t>(thread_bytes));
  }

  // Of a chunk.
  struct Thread {
    Thread(const VocabularySizes& sizes, void* memory)
        : workspace(memory),
          dlogit_rows(workspace.take<bfloat16>(kChunk * sizes.columns)),
          dlogit_pairs(workspace.take<bfloat16>(kChunk * sizes.columns)),
          dlogits_by_column(workspace.take<bfloat16>(sizes.columns * kChunk)),
          table(workspace.take<bfloat16>(kChunk * whole_pair_steps(sizes.width))),
          dtable(workspace.take<float>(kChunk * whole_pair_steps(sizes.width))) {}

    Workspace workspace;
    bfloat16* dlogit_rows;        // [96, R]
    bfloat16* dlogit_pairs;       // panels [96, R]
    bfloat16* dlogits_by_column;  // [R, 96]
    bfloat16* table;              // panels [96, H]
    float* dtable;                // [96, H]
  };
  Thread thread(const VocabularySizes& sizes, int number) const {
    return Thread(sizes, threads + static_cast<size_t>(number) * thread_bytes);
  }

  Workspace workspace;
  int64_t slice_floats;
  size_t thread_bytes;
  bfloat16* x;    // panels [R, H]
  float* slices;  // dx of each
  char* threads;
};

HalfRows rows_of_x(const VocabularySizes& sizes, const VocabularyBlock& block) {
  return {static_cast<const bfloat16*>(block.x), sizes.width, block.count, sizes.width};
}

FloatRows table_rows(const VocabularySizes& sizes, const VocabularyBlock& block, int64_t chunk) {
  return {block.table + chunk * kChunk * sizes.width, sizes.width, sizes.rows(chunk), sizes.width};
}

// A chunk of a matrix of V rows.
void add_chunk(const VocabularySizes& sizes, const float* matrix, int64_t width, int64_t chunk,
               FetchQueue& queue) {
  queue.add(matrix + chunk * kChunk * width, sizes.rows(chunk) * width * int64_t{sizeof(float)});
}

// The memory that differentiate_chunk() reads, in its order.
FetchQueue gradient_reads(const VocabularySizes& sizes, const VocabularyBlock& block,
                          int64_t chunk) {
  FetchQueue queue;
  add_chunk(sizes, block.logits, sizes.columns, chunk, queue);
  add_chunk(sizes, block.dtable, sizes.width, chunk, queue);
  add_chunk(sizes, block.table, sizes.width, chunk, queue);
  return queue;
}

// Chunks [begin, end), whose dx is summed on its own.
struct Slice {
  int64_t begin = 0, end = 0;
  const bfloat16* x = nullptr;  // panels [R, H]
  float* dx = nullptr;          // [R, H]
  GradientBuffers::Thread buffers;
};

// The gradients of one chunk.
void differentiate_chunk(const VocabularySizes& sizes, const VocabularyBlock& block,
                         const Slice& slice, int64_t chunk, const PairMultiplier& multiplier) {
  const GradientBuffers::Thread& buffers = slice.buffers;
  const int64_t H = whole_pair_steps(sizes.width);
  const int64_t R = whole_pair_steps(block.count);
  const int64_t row = chunk * kChunk;
  const int64_t rows = sizes.rows(chunk);
  FetchQueue next;
  if (chunk + 1 < slice.end) next = gradient_reads(sizes, block, chunk + 1);
  // Rows after the last of the vocabulary, and columns after the last prediction, count as zero.
  if (rows < kChunk || block.count < R) std::fill_n(buffers.dlogit_rows, kChunk * R, bfloat16());
  block.softmax->apply_factors({block.logits + row * sizes.columns, buffers.dlogit_rows,
                                DType::kBF16, R, row, rows, block.dbias, block.adds_dbias});
  multiplier.multiply(
      {kChunk, H, R, buffers.dlogit_rows, R, slice.x, buffers.dtable, false, &next});
  HWY_DYNAMIC_DISPATCH(put_dtable)
  (buffers.dtable, H, rows, sizes.width, block.adds_dtable, block.dtable + row * sizes.width);

  const PairPanels pairs{buffers.dlogit_pairs, R, kChunk};
  pack_pairs(HalfRows{buffers.dlogit_rows, R, kChunk, R}, pairs);
  transpose_panels(pairs, kChunk, buffers.dlogits_by_column);
  pack_pairs(table_rows(sizes, block, chunk), {buffers.table, H, kChunk});
  multiplier.multiply({R, H, kChunk, buffers.dlogits_by_column, kChunk, buffers.table, slice.dx,
                       chunk > slice.begin, &next});
}

}  // namespace

size_t NativeVocabulary::workspace_bytes() const {
  const size_t logits = LogitsBuffers(sizes_, nullptr).workspace.bytes();
  if (!sizes_.has_gradient) return logits;
  return std::max(logits, GradientBuffers(sizes_, nullptr).workspace.bytes());
}

void NativeVocabulary::compute_logits(const VocabularyBlock& block) const {
  const LogitsBuffers buffers(sizes_, block.workspace);
  const int64_t H = whole_pair_steps(sizes_.width);
  const int64_t R = whole_pair_steps(block.count);
  pack_transposed_pairs(rows_of_x(sizes_, block), {buffers.x_by_depth, R, H});
  for_each_item(sizes_.chunks(), sizes_.num_threads, [&](int64_t chunk, int thread) {
    bfloat16* table = buffers.table + thread * buffers.table_elements;
    pack_rows(table_rows(sizes_, block, chunk), kChunk, H, table);
    const int64_t row = chunk * kChunk;
    float* logits = sizes_.has_gradient ? block.logits + row * sizes_.columns
                                        : buffers.logits + thread * buffers.logits_elements;
    // The threads take chunks in turn, so this is most likely the next one of this thread.
    const int64_t after = chunk + sizes_.num_threads;
    FetchQueue next;
    if (after < sizes_.chunks()) {
      add_chunk(sizes_, block.table, sizes_.width, after, next);
      // A line that is only written is fetched as well.
      if (sizes_.has_gradient) add_chunk(sizes_, block.logits, sizes_.columns, after, next);
    }
    PairMultiplier(pair_units())
        .multiply({kChunk, R, H, table, H, buffers.x_by_depth, logits, false, &next});
    block.softmax->take_chunk({row, sizes_.rows(chunk), 0, block.count, logits, R},
                              sizes_.has_gradient);
  });
}

void NativeVocabulary::compute_gradients(const VocabularyBlock& block) const {
  const GradientBuffers buffers(sizes_, block.workspace);
  const int64_t H = whole_pair_steps(sizes_.width);
  pack_pairs(rows_of_x(sizes_, block), {buffers.x, H, whole_pair_steps(block.count)});
  const int64_t slices = sizes_.slices();
  for_each_item(slices, sizes_.num_threads, [&](int64_t item, int thread) {
    const PairMultiplier multiplier(pair_units());
    const Slice slice{sizes_.chunks() * item / slices, sizes_.chunks() * (item + 1) / slices,
                      buffers.x, buffers.slices + item * buffers.slice_floats,
                      buffers.thread(sizes_, thread)};
    for (int64_t chunk = slice.begin; chunk < slice.end; ++chunk) {
      differentiate_chunk(sizes_, block, slice, chunk, multiplier);
    }
  });
  add_slices(sizes_, {buffers.slices, buffers.slice_floats, H}, block);
}

}  // namespace cloze::backend::cpu
#endif
