// The values that parts of a pipeline send each other (passes/pipeline.h: crossings).
//
// Messages between two ranks arrive in the order in which they are sent. A rank with several parts
// may send data for a later part of the receiver first; these wait here until they are needed.
//
// Errors: what the communicator throws. One thread calls it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "comm/communicator.h"
#include "engine/session.h"
#include "passes/pipeline.h"
#include "train/ranks/pipeline_schedule.h"

namespace cloze::train {

class StageMessages {
 public:
  // part_ranks: by part, the rank of `stages` that computes it. `stages` outlives it.
  StageMessages(std::vector<passes::Crossing> crossings, std::vector<int> part_ranks,
                comm::Communicator& stages);

  // Before a step: the tasks of all ranks, and by micro-batch a session whose values are as large
  // as its own.
  void expect(std::span<const std::vector<PipelineTask>> tasks,
              std::vector<const engine::Session*> sessions);
  // After a task, what its part makes for others; before one, what it needs. A gradient that a
  // later part adds to goes on with the micro-batch.
  void send(engine::Session& session, const PipelineTask& task);
  void receive(engine::Session& session, const PipelineTask& task);

  // Since expect().
  double waited_seconds() const { return waited_seconds_; }

 private:
  struct Key {
    int64_t micro_batch = 0;
    size_t crossing = 0;
    auto operator<=>(const Key&) const = default;
  };

  int rank_of(int part) const { return part_ranks_[static_cast<size_t>(part)]; }
  std::vector<std::byte> message_of(const Key& key) const;  // of its size
  std::vector<std::byte> taken(const Key& key);

  std::vector<passes::Crossing> crossings_;
  std::vector<int> part_ranks_;
  comm::Communicator& stages_;
  std::vector<const engine::Session*> sessions_;  // by micro-batch
  std::map<Key, std::vector<std::byte>> early_;   // arrived before they were needed
  std::vector<std::vector<Key>> expected_;        // by rank, in the order it sends them
  std::vector<size_t> arrived_;                   // of those, by rank
  double waited_seconds_ = 0.0;
};

}  // namespace cloze::train
