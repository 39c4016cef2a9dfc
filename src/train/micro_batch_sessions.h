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
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "data/micro_batch.h"
#include "engine/session.h"
#include "runtime/arena_snapshots.h"

namespace cloze::train {

// A session, and the inputs that were written ahead for its next runs.
class MicroBatchSession {
 public:
  explicit MicroBatchSession(engine::Session& session)
      : session_(session), ahead_(session.executor(), plan::Arena::kInputs) {}

  engine::Session& session() { return session_; }
  // Before the first inputs of a series are kept: forgets those of the series before.
  void begin_ahead() { num_kept_ = num_taken_ = 0; }
  // Keeps the session's inputs; take_inputs() puts them back in the order in which they were kept.
  void keep_inputs() { ahead_.take(num_kept_++); }
  void take_inputs() { ahead_.put_back(num_taken_++); }

 private:
  engine::Session& session_;
  runtime::ArenaSnapshots ahead_;
  size_t num_kept_ = 0;
  size_t num_taken_ = 0;
};

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

  MicroBatchSession& full() { return full_; }
  // The smallest that holds the micro-batch.
  MicroBatchSession& holding(const data::MicroBatch& micro_batch);
  // Of all sizes.
  void begin_ahead();

 private:
  struct Smaller {
    Smaller(plan::Program program, runtime::Executor& full) : session(std::move(program), full) {}

    engine::Session session;
    MicroBatchSession micro_batch{session};
  };

  data::MicroBatchCapacity capacity_of(int64_t eighths) const;
  std::unique_ptr<Smaller> make(const data::MicroBatchCapacity& capacity);

  std::unique_ptr<engine::Session> own_full_;  // of another()
  MicroBatchSession full_;
  data::MicroBatchCapacity capacity_;
  engine::CompileOptions compile_;
  MakeGraph make_graph_;
  std::array<std::unique_ptr<Smaller>, kSizes - 1> smaller_;
};

// What all smaller sessions take beside the full one's memory, without code that oneDNN makes for
// more shapes.
int64_t smaller_sessions_bytes(const plan::Program& full);

}  // namespace cloze::train
