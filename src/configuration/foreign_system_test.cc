#include "configuration/foreign_system.h"

#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "platform/files/file.h"

namespace cloze::configuration {
namespace {

std::string_view word_of(Fate fate) {
  constexpr std::string_view kWords[] = {"supported", "mapped", "no effect", "planned"};
  return kWords[static_cast<size_t>(fate)];
}

// The options in the tables under a heading of docs/fidelity/options.md, each with its word.
std::map<std::string, std::string> documented(const std::string& heading) {
  const std::string document = platform::read_file(CLOZE_SOURCE_DIR "/docs/fidelity/options.md");
  const size_t begin = document.find("\n## " + heading + "\n");
  if (begin == std::string::npos) return {};
  std::istringstream section(document.substr(begin + 1, document.find("\n## ", begin + 1) - begin));
  const std::regex row(R"(^\| (`[^|]*) \| (supported|mapped|no effect|planned) \|.*)");
  const std::regex name("`([^`]+)`");
  std::map<std::string, std::string> words;
  std::smatch cells;
  for (std::string line; std::getline(section, line);) {
    if (!std::regex_match(line, cells, row)) continue;
    const std::string names = cells[1];
    for (std::sregex_iterator one(names.begin(), names.end(), name), end; one != end; ++one) {
      words[(*one)[1]] = cells[2];
    }
  }
  return words;
}

TEST(ForeignSystem, TheDocumentSaysOfEveryKeyWhatTheTableSays) {
  for (const ForeignSystem* system : foreign_systems()) {
    for (const KeyGroup& group : system->groups) {
      std::map<std::string, std::string> table;
      for (const KeyRule& rule : group.rules) table[rule.key] = word_of(rule.fate);
      EXPECT_EQ(documented(group.heading), table) << group.heading;
    }
  }
}

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
