#include "train/ranks/step_ranks.h"

namespace cloze::train {

StepRanks::StepRanks(comm::Communicator& all, int num_stages) : all_(all) {
  if (num_stages == 1) return;
  constexpr int kReplicas = 1, kStages = 2;  // channels
  replicas_ = std::make_unique<comm::Group>(all, kReplicas, all.rank() % num_stages);
  stages_ = std::make_unique<comm::Group>(all, kStages, all.rank() / num_stages);
}

}  // namespace cloze::train
