#include "configuration/foreign_system.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace cloze::configuration {
namespace {

TEST(ForeignSystem, EveryKeyHasOneRuleAndEveryKeyWithoutAnOptionAReason) {
  for (const ForeignSystem* system : foreign_systems()) {
    for (const KeyGroup& group : system->groups) {
      std::set<std::string> keys;
      for (const KeyRule& rule : group.rules) {
        EXPECT_TRUE(keys.insert(rule.key).second) << group.heading << ": " << rule.key;
        EXPECT_FALSE(rule.option.empty() && rule.note.empty()) << group.heading << ": " << rule.key;
      }
    }
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
  EXPECT_EQ(tensorflow2().find("wandb_opts.init.tags", "")->key, "wandb_opts.*");
  EXPECT_EQ(tensorflow2().find("wandb", ""), nullptr);
}

}  // namespace
}  // namespace cloze::configuration
