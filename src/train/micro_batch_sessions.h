// The sessions that compute a step's micro-batches: the step's own, which has the slots of a full
// one, and smaller ones beside it for micro-batches that are not full.
//
// A program computes all slots that it was compiled for, used or not. So a micro-batch that is not
// full, such as the last one of a step, goes through the smallest program that holds it. The
// smaller programs have 1 to 7 eighths of the full token and prediction slots. Each is made when it
// is first needed, in a few milliseconds, and shares all memory with the full one except the
// inputs. The choice depends only on the sizes of the micro-batch: a resumed run continues as if it
// had not stopped, and all ranks of a pipeline choose alike.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "data/micro_batch.h"
#include "engine/session.h"

namespace cloze::train {

class MicroBatchSessions {
 public:
  static constexpr int64_t kSizes = 8;  // with the full one
  // The graph of the full session for another capacity.
  using MakeGraph = std::function<graph::Graph(const data::MicroBatchCapacity&)>;

  // `full` outlives it. Without make_graph it computes every micro-batch.
  MicroBatchSessions(engine::Session& full, const data::MicroBatchCapacity& capacity,
                     engine::CompileOptions compile, MakeGraph make_graph);

  // Sessions for a micro-batch at the same time, which share all but inputs and activations.
  // This object outlives them and records their spans.
  std::unique_ptr<MicroBatchSessions> another();

  engine::Session& full() { return full_; }
  // The smallest that holds the micro-batch.
  engine::Session& holding(const data::MicroBatch& micro_batch);

 private:
  data::MicroBatchCapacity capacity_of(int64_t eighths) const;
  std::unique_ptr<engine::Session> make(const data::MicroBatchCapacity& capacity);

  std::unique_ptr<engine::Session> own_full_;  // of another()
  engine::Session& full_;
  data::MicroBatchCapacity capacity_;
  engine::CompileOptions compile_;
  MakeGraph make_graph_;
  std::array<std::unique_ptr<engine::Session>, kSizes - 1> smaller_;
};

// What all smaller sessions take beside the full one's memory, without code that oneDNN makes for
// more shapes.
int64_t smaller_sessions_bytes(const plan::Program& full);

}  // namespace cloze::train
