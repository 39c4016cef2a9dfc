// Sums of a step that are the same bytes on any number of ranks and stages.
//
// Each micro-batch computes its share of gradients and metrics from zero. The shares are added in
// the order of the micro-batches, whichever rank computes them. In a round every rank adds one:
//   sum = ((sum + rank 0's) + rank 1's) + ...
// The norm of all gradients is computed in the same way: one rank sums the squares of each tensor,
// and these sums are added in the order of the whole model.
//
// The cost is a copy of the gradients in the host's memory, and in every round a sum over the
// ranks, during which nothing is computed.
//
// Errors: what the communicator throws. One thread calls it.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "comm/communicator.h"
#include "engine/session.h"
#include "train/metrics/communication_time.h"

namespace cloze::train {

class ReproducibleSums {
 public:
  // ranks: those that share the micro-batches, a stage's. Session and ranks outlive the sums.
  ReproducibleSums(engine::Session& session, comm::Communicator& ranks);

  // Before a step: everything is zero.
  void begin();
  // Adds the next round of these gradients and metrics, which are then zero in the session, as they
  // still are on a rank without a micro-batch in the round.
  void add(std::span<const graph::Value> variables);
  // After the last round: the session has the sums.
  void end();

  // Since the last call.
  CommunicationTime take_time();

 private:
  void add_own(graph::Value variable, std::span<float> sums);

  engine::Session& session_;
  comm::Communicator& ranks_;
  std::map<int32_t, std::vector<float>> sums_;  // by variable
  CommunicationTime time_;
};

// The gradients and metrics that launches [begin, end) of the micro-step write.
std::vector<graph::Value> summed_variables(const graph::Graph& graph, size_t begin, size_t end);

// The root of the sum of squares of all gradients. numbers: by gradient of the session, its number
// in the whole model where this rank contributes its sum; -1 elsewhere. All ranks call it together.
float reproducible_norm(engine::Session& session, std::span<const int32_t> numbers,
                        comm::Communicator& ranks);

}  // namespace cloze::train
