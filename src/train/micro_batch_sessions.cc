#include "train/micro_batch_sessions.h"

#include <utility>

#include "base/division.h"

namespace cloze::train {
namespace {

bool holds(const data::MicroBatchCapacity& capacity, const data::MicroBatch& batch) {
  return batch.num_tokens <= capacity.tokens && batch.num_sequences <= capacity.sequences &&
         batch.num_predictions <= capacity.predictions;
}

}  // namespace

int64_t smaller_sessions_bytes(const plan::Program& full) {
  constexpr int64_t kSmaller = MicroBatchSessions::kSizes - 1;
  constexpr int64_t kNodeBytes = 2700;  // measured: of a graph, its launches and their kernels
  // They have 1, 2, ... 7 eighths of the inputs.
  return kSmaller * std::ssize(full.graph.nodes()) * kNodeBytes +
         kSmaller * full.bytes_of(plan::Arena::kInputs) / 2;
}

MicroBatchSessions::MicroBatchSessions(engine::Session& full,
                                       const data::MicroBatchCapacity& capacity,
                                       engine::CompileOptions compile, MakeGraph make_graph)
    : full_(full),
      capacity_(capacity),
      compile_(std::move(compile)),
      make_graph_(std::move(make_graph)) {}

std::unique_ptr<MicroBatchSessions> MicroBatchSessions::another() {
  runtime::Executor& full = full_.executor();
  auto session = std::make_unique<engine::Session>(full.program(), full.device(),
                                                   full.memory_beside_a_batch());
  session->executor().record_spans_in(full);
  auto other = std::make_unique<MicroBatchSessions>(*session, capacity_, compile_, make_graph_);
  other->own_full_ = std::move(session);
  return other;
}

// Places for sequences cost next to nothing.
data::MicroBatchCapacity MicroBatchSessions::capacity_of(int64_t eighths) const {
  const auto part = [&](int64_t slots) { return divide_up(slots * eighths, kSizes); };
  return {.tokens = part(capacity_.tokens),
          .sequences = capacity_.sequences,
          .predictions = part(capacity_.predictions)};
}

engine::Session& MicroBatchSessions::holding(const data::MicroBatch& micro_batch) {
  if (!make_graph_) return full_;
  for (int64_t eighths = 1; eighths < kSizes; ++eighths) {
    const data::MicroBatchCapacity capacity = capacity_of(eighths);
    if (!holds(capacity, micro_batch)) continue;
    auto& smaller = smaller_[static_cast<size_t>(eighths - 1)];
    if (!smaller) smaller = make(capacity);
    return *smaller;
  }
  return full_;
}

std::unique_ptr<engine::Session> MicroBatchSessions::make(
    const data::MicroBatchCapacity& capacity) {
  return std::make_unique<engine::Session>(engine::compile(make_graph_(capacity), compile_),
                                           full_.executor());
}

}  // namespace cloze::train
