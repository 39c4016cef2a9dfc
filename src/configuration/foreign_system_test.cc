#include "configuration/foreign_system.h"

#include <gtest/gtest.h>

#include "configuration/import.h"

namespace cloze::configuration {
namespace {

// read_system() finds whatever else could be wrong with a file.
TEST(ForeignSystem, EachHasAFileOfItsName) {
  for (const ForeignSystem* system : foreign_systems()) {
    EXPECT_EQ(&system_named(system->id), system);
    EXPECT_FALSE(system->groups.front().rules.empty()) << system->id;
  }
}

TEST(ForeignSystem, ATasksOwnRuleOverridesTheGeneralOne) {
  const ForeignSystem& system = tensorflow1();
  EXPECT_EQ(system.find("static_mask", "pretraining")->fate, Fate::kSupported);
  EXPECT_EQ(system.find("static_mask", "SQuAD")->fate, Fate::kNoEffect);
  EXPECT_TRUE(system.is_for("doc_stride", "SQuAD"));
  EXPECT_FALSE(system.is_for("doc_stride", "pretraining"));
  EXPECT_NE(system.find("doc_stride", "pretraining"), nullptr);
  EXPECT_EQ(system.find("micro_batchsize", "SQuAD"), nullptr);
}

TEST(ForeignSystem, AStarStandsForAllKeysBeneath) {
  const ForeignSystem& system = system_named("tensorflow2");
  EXPECT_EQ(system.find("wandb_opts.init.tags", "")->key, "wandb_opts.*");
  EXPECT_EQ(system.find("wandb", ""), nullptr);
}

}  // namespace
}  // namespace cloze::configuration
