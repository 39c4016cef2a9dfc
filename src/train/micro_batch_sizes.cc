#include "train/micro_batch_sizes.h"

#include "base/division.h"

namespace cloze::train {

MicroBatchSize size_of(const data::MicroBatchCapacity& capacity) {
  return {capacity.tokens, capacity.sequences, capacity.predictions};
}

MicroBatchSize size_of(const data::MicroBatch& micro_batch) {
  return {micro_batch.num_tokens, micro_batch.num_sequences, micro_batch.num_predictions};
}

// Places for sequences cost next to nothing.
MicroBatchSize eighths_for(const MicroBatchSize& need, const MicroBatchSize& full) {
  for (int64_t eighths = 1; eighths < kMicroBatchSizes; ++eighths) {
    const auto part = [&](int64_t slots) { return divide_up(slots * eighths, kMicroBatchSizes); };
    const MicroBatchSize size{part(full.tokens), full.sequences, part(full.predictions)};
    if (need.tokens <= size.tokens && need.predictions <= size.predictions) return size;
  }
  return full;
}

int64_t smaller_sessions_bytes(const plan::Program& full) {
  constexpr int64_t kSmaller = kMicroBatchSizes - 1;
  constexpr int64_t kNodeBytes = 2700;  // measured: of a graph, its launches and their kernels
  // They have 1, 2, ... 7 eighths of the inputs.
  const int64_t inputs = full.bytes_of(plan::Arena::kInputs) + runtime::input_image_bytes(full);
  return kSmaller * std::ssize(full.graph.nodes()) * kNodeBytes + kSmaller * inputs / 2;
}

}  // namespace cloze::train
