#include "configuration/system_file.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "configuration/import.h"

namespace cloze::configuration {
namespace {

using formats::Json;

const std::string kWords = R"(id: mine
name: My trainer
marks: [lights]
defaults: {epsilon: 1e-4, precision: "16"}
meanings: {precision: {half: "16", true: bf16}}
constants: {epochs: 3}
)";
const std::string kShared = "shared: {both: [{supported: [vocab_file]}]}\n";
const std::string kSeed = "supported: [seed]";

std::string file_of(const std::vector<std::string>& rows, const std::string& statement = "") {
  std::string text = kWords + kShared + "groups:\n  - heading: Mine\n    rules:\n";
  for (const std::string& row : rows) text += "      - {" + row + "}\n";
  return text + "statements: [" + statement + "]\n";
}

ForeignSystem read(const std::string& text, const Computations& computations = {}) {
  return read_system("mine.yml", text, computations);
}

std::string error_of(const std::string& text, const Computations& computations = {}) {
  try {
    read(text, computations);
  } catch (const InternalError& error) {
    return error.what();
  }
  return "it was taken";
}

TEST(SystemFile, AWordSaysWhatBecomesOfItsKeys) {
  const ForeignSystem system =
      read(file_of({"supported: [seed, warmup]", "renamed: {steps: num_train_steps}, note: why",
                    "noted: [name], note: elsewhere, as_here: true", "ignored: [host], because: a",
                    "refused: [lights], because: b", "planned: [onnx], because: c",
                    "shared: both"}));
  const std::vector<KeyRule>& rules = system.groups.front().rules;
  const auto is = [&](size_t i, const KeyRule& expected) {
    const KeyRule& rule = rules.at(i);
    EXPECT_EQ(rule.key, expected.key);
    EXPECT_EQ(rule.fate, expected.fate) << rule.key;
    EXPECT_EQ(rule.option, expected.option) << rule.key;
    EXPECT_EQ(rule.note, expected.note) << rule.key;
    EXPECT_EQ(rule.agreeing, expected.agreeing) << rule.key;
    EXPECT_EQ(rule.is_missing, expected.is_missing) << rule.key;
  };
  ASSERT_EQ(rules.size(), 8u);
  is(0, {"seed", Fate::kSupported, "seed", ""});
  is(1, {"warmup", Fate::kSupported, "warmup", ""});
  is(2, {"steps", Fate::kMapped, "num_train_steps", "why"});
  is(3, {"name", Fate::kMapped, "", "elsewhere", true});
  is(4, {"host", Fate::kNoEffect, "", "a"});
  is(5, {"lights", Fate::kMapped, "", "b", nullptr, true});
  is(6, {"onnx", Fate::kPlanned, "", "c", nullptr, true});
  is(7, {"vocab_file", Fate::kSupported, "vocab_file", ""});
}

TEST(SystemFile, OtherWordsAreTheSystems) {
  const ForeignSystem system = read(file_of({kSeed}));
  EXPECT_EQ(system.id, "mine");
  EXPECT_EQ(system.name, "My trainer");
  EXPECT_EQ(system.marks, std::vector<std::string>{"lights"});
  EXPECT_EQ(system.defaults, (Json{{"epsilon", 1e-4}, {"precision", "16"}}));
  EXPECT_EQ(system.meant("precision", "half"), "16");
  EXPECT_EQ(system.meant("precision", true), "bf16");
  EXPECT_EQ(system.constants.at("epochs"), 3);
}

TEST(SystemFile, ABadRowIsNamed) {
  const auto error = [](const std::string& row) { return error_of(file_of({kSeed, row})); };
  EXPECT_EQ(error("ignred: [host], because: a"),
            "mine.yml: ignred [\"host\"]: no word for what becomes of a key is ignred");
  EXPECT_EQ(error("ignored: [host]"),
            "mine.yml: ignored [\"host\"]: host has no reason; add because: TEXT");
  EXPECT_EQ(error("noted: [host], because: a"),
            "mine.yml: noted [\"host\"]: because beside noted has no meaning");
  EXPECT_EQ(error("ignored: [seed], because: a"),
            "mine.yml: ignored [\"seed\"]: seed has another rule");
  EXPECT_EQ(error("renamed: {steps: 5}"),
            "mine.yml: renamed {\"steps\":5}: the value is number, not a text");
  EXPECT_EQ(error("shared: all"), "mine.yml: a group: \"all\" is missing");
  EXPECT_EQ(error_of(kWords + "weather: sunny\n"), "mine.yml: weather has no meaning");
  EXPECT_EQ(error_of(kWords), "mine.yml: \"groups\" is missing");
  EXPECT_TRUE(error_of("id: [").starts_with("mine.yml:1:")) << error_of("id: [");
}

TEST(SystemFile, ABadStatementIsNamed) {
  const auto error = [](const std::string& statement) {
    return error_of(file_of({kSeed}, statement));
  };
  EXPECT_EQ(error("{when: {sed: 1}, set: {epochs: 1}}"),
            "mine.yml: {\"when\":{\"sed\":1},\"set\":{\"epochs\":1}}: no key of its rules is called "
            "sed");
  for (const char* statement :
       {"{given: [sed]}", "{given: sed}", "{take: {epochs: [seed, sed]}}", "{say: {sed: gone}}",
        "{unless: {sed: 1}}", "{any: {sed: 1}}", "{left_out: [sed]}", "{from: [sed]}",
        "{negate: {epochs: sed}}", "{refuse: {sed: no}}"}) {
    EXPECT_TRUE(error(statement).ends_with("no key of its rules is called sed")) << statement;
  }
  EXPECT_EQ(error("{wen: {seed: 1}}"),
            "mine.yml: {\"wen\":{\"seed\":1}}: no word of a statement is wen");
  EXPECT_EQ(error("{compute: steps}"),
            "mine.yml: {\"compute\":\"steps\"}: no computation is called steps");
  EXPECT_EQ(error("{set: 5}"), "mine.yml: {\"set\":5}: the value is number, not an object");
  EXPECT_EQ(error("{how: 5}"), "mine.yml: {\"how\":5}: the value is number, not a text");
  EXPECT_EQ(error("{say: {seed: 5}}"),
            "mine.yml: {\"say\":{\"seed\":5}}: the value is number, not a text");
}

TEST(SystemFile, AComputationThatNoStatementNamesIsNamed) {
  const Computations one = {.by_name = {{"steps", [](Conversion&) {}}}};
  EXPECT_EQ(error_of(file_of({kSeed}), one),
            "mine.yml: no statement names the computation steps");
  EXPECT_EQ(error_of(file_of({kSeed}, "{compute: steps}"), one), "it was taken");
}

}  // namespace
}  // namespace cloze::configuration
