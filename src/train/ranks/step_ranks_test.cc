#include "train/ranks/step_ranks.h"

#include <gtest/gtest.h>

#include "comm/loopback.h"

namespace cloze::train {
namespace {

TEST(StepRanks, ReplicasHaveTheSamePartAndStagesTheOthers) {
  comm::run_loopback(6, [](comm::Communicator& all) {
    const StepRanks ranks(all, 3);
    EXPECT_EQ(ranks.all().size(), 6);
    const auto members = [&](comm::Communicator& group) { return group.all_gather(all.rank()); };
    const int stage = all.rank() % 3, first = all.rank() - stage;
    EXPECT_EQ(members(ranks.replicas()), (std::vector<int>{stage, stage + 3}));
    EXPECT_EQ(members(ranks.stages()), (std::vector<int>{first, first + 1, first + 2}));
  });
}

TEST(StepRanks, AWholeModelHasNoOtherStages) {
  comm::run_loopback(2, [](comm::Communicator& all) {
    const StepRanks ranks(all, 1);
    EXPECT_EQ(&ranks.replicas(), &all);
    EXPECT_EQ(ranks.stages().size(), 1);
  });
}

}  // namespace
}  // namespace cloze::train
