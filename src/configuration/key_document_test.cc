#include "configuration/key_document.h"

#include <gtest/gtest.h>

#include <string>

namespace cloze::configuration {
namespace {

TEST(KeyDocument, KeysOfOneFateAndReasonShareARow) {
  const ForeignSystem system = {
      .id = "other",
      .name = "Another",
      .groups = {{"Another: training",
                  "",
                  {{"seed", Fate::kSupported, "seed", ""},
                   {"epochs", Fate::kSupported, "epochs", ""},
                   {"steps", Fate::kMapped, "num_train_steps", ""},
                   {"rate", Fate::kMapped, "base_learning_rate", "peak"},
                   {"model.size", Fate::kMapped, "size", ""},
                   {"model.depth", Fate::kMapped, "depth", ""},
                   {"a", Fate::kNoEffect, "", "why"},
                   {"b", Fate::kNoEffect, "", "why"},
                   {"c", Fate::kPlanned, "", "why"}}},
                 {"Another: scoring", "SQuAD", {{"stride", Fate::kMapped, "", "elsewhere"}}}},
      .defaults = {{"seed", 7}, {"precision", "16"}},
      .marks = {"steps", "rate"}};
  EXPECT_EQ(key_document(system), R"(## Another: training

| option | here | note |
| --- | --- | --- |
| `seed`, `epochs` | supported | |
| `steps` | mapped | `num_train_steps` |
| `rate` | mapped | `base_learning_rate`; peak |
| `model.size`, `model.depth` | mapped | the name after the dot |
| `a`, `b` | no effect | why |
| `c` | planned | why |

| keys that tell a file of this system |
| --- |
| `steps`, `rate` |

| where a file leaves them out |
| --- |
| `seed 7`, `precision "16"` |

## Another: scoring

| option | here | note |
| --- | --- | --- |
| `stride` | mapped | elsewhere |
)");
}

TEST(KeyDocument, HasEveryKeyOfEverySystem) {
  for (const ForeignSystem* system : foreign_systems()) {
    const std::string document = key_document(*system);
    for (const KeyGroup& group : system->groups) {
      EXPECT_NE(document.find("## " + group.heading + "\n"), std::string::npos);
      for (const KeyRule& rule : group.rules) {
        EXPECT_NE(document.find("`" + rule.key + "`"), std::string::npos) << rule.key;
      }
    }
  }
}

}  // namespace
}  // namespace cloze::configuration
