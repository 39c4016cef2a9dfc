// The ranks that share a step, as replicas and as stages: rank r is stage r % S of replica r / S.
#pragma once

#include <memory>

#include "comm/group.h"

namespace cloze::train {

class StepRanks {
 public:
  // S ranks hold a model between them; 1: each holds all of it. All ranks make one together.
  StepRanks(comm::Communicator& all, int num_stages);

  comm::Communicator& all() const { return all_; }
  // Those with the same part of the model as this one, itself included.
  comm::Communicator& replicas() const { return replicas_ ? *replicas_ : all_; }
  // Those that hold a model with this one, itself included.
  comm::Communicator& stages() const { return stages_ ? *stages_ : comm::alone(); }

 private:
  comm::Communicator& all_;
  std::unique_ptr<comm::Group> replicas_, stages_;
};

}  // namespace cloze::train
