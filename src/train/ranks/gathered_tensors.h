// Lets the first rank read the tensors that the ranks hold between them, to save them.
//
// The first rank asks a tensor's owner for one range of bytes at a time, in the order in which it
// writes; the other ranks answer until it is done. So no rank ever holds all tensors.
#pragma once

#include <vector>

#include "comm/communicator.h"
#include "engine/session.h"
#include "formats/safetensors.h"

namespace cloze::train {

// The variables of a role as a session has them. Reads from the session, which outlives them.
std::vector<formats::TensorSource> tensors_of(engine::Session& session, graph::VariableRole role);

class GatheredTensors {
 public:
  // All ranks make one together. Parameters and optimiser states that several ranks have are read
  // from the first of them. Both outlive it.
  GatheredTensors(comm::Communicator& ranks, engine::Session& session);
  // On the first rank: tells the others that it is done.
  ~GatheredTensors();
  GatheredTensors(const GatheredTensors&) = delete;
  GatheredTensors& operator=(const GatheredTensors&) = delete;

  // On the first rank: all there are.
  std::vector<formats::TensorSource> tensors(graph::VariableRole role);
  // On the others: answers until the first is done.
  void serve();

 private:
  struct Request {
    int64_t tensor = 0;  // as the owner announced them; -1: no more
    int64_t offset = 0, bytes = 0;
  };
  struct Announced {
    int owner = 0;
    int64_t tensor = 0;
    graph::VariableRole role = graph::VariableRole::kParameter;
    formats::TensorSource source;
  };
  formats::TensorSource read_from_owner(const Announced& announced);

  comm::Communicator& ranks_;
  std::vector<formats::TensorSource> own_;
  std::vector<Announced> announced_;  // by all ranks, each name once
};

}  // namespace cloze::train
