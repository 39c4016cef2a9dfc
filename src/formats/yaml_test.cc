#include "formats/yaml.h"

#include <gtest/gtest.h>

namespace cloze::formats {
namespace {

TEST(Yaml, MapsListsAndPlainValues) {
  const auto value = parse_yaml(
      "# a comment\nmodel: \"bert\"\nempty:\nrate: 2e-5\ncount: 8\nflag: true\n"
      "quoted: \"8\"\nlist:\n  - 64\n  - 8\ninner:\n  deeper: {a: [1, two]}\n");
  ASSERT_TRUE(value) << value.error().message;
  EXPECT_EQ(*value, (Json{{"model", "bert"},
                          {"empty", nullptr},
                          {"rate", 2e-5},
                          {"count", 8},
                          {"flag", true},
                          {"quoted", "8"},
                          {"list", {64, 8}},
                          {"inner", {{"deeper", {{"a", {1, "two"}}}}}}}));
}

TEST(Yaml, NumbersAreThoseOfTheCoreSchema) {
  const std::pair<const char*, Json> numbers[] = {{"1.e-4", 1e-4}, {".5", 0.5}, {"1.", 1.0},
                                                  {"+3", 3},       {"-7", -7},  {"0x1F", 31},
                                                  {"0o17", 15},    {"010", 10}, {"-.5e1", -5.0}};
  for (const auto& [text, value] : numbers) EXPECT_EQ(*parse_yaml(text), value) << text;
  for (const char* text : {".", "+-3", "1e", "0x", "0x-1", "1_000", "1 /* x */", "2020-01-01",
                           ".inf", "nan", "1e999"}) {
    EXPECT_EQ(*parse_yaml(text), Json(text)) << text;
  }
}

std::string refusal(std::string_view text) {
  const auto value = parse_yaml(text);
  return value ? "accepted" : value.error().message;
}

TEST(Yaml, WhatMakesSmallTextsLargeOrUnclearIsRefused) {
  EXPECT_EQ(refusal("a: &x [1]\nb: *x\n"), "an alias; write the value out");
  EXPECT_EQ(refusal("a: 1\na: 2\n"), "key \"a\" is given twice");
  EXPECT_EQ(refusal("? [1]\n: 2\n"), "a key that is not text");
  EXPECT_EQ(refusal(std::string(100, '[')), "nested too deeply");
  EXPECT_NE(refusal("a: [1,\n"), "accepted");
  EXPECT_EQ(refusal("a: 1\n---\nb: 2\n"), "a second document; give it a file of its own");
  EXPECT_EQ(refusal("---\na: 1\n...\n"), "accepted");
}

TEST(Yaml, AnErrorSaysWhere) {
  const auto value = parse_yaml("a: 1\na: 2\n");
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().offset, 5u);
}

TEST(Yaml, TextCutAnywhereIsReadOrRefused) {
  const std::string text = "a: {b: [1, \"x\"], c: 'y'}\nd:\n  - e: 1\n    f: ~\n";
  for (size_t length = 0; length <= text.size(); ++length) {
    parse_yaml(text.substr(0, length));
    std::string flipped = text;
    if (length < text.size()) flipped[length] = static_cast<char>(flipped[length] ^ 0x10);
    parse_yaml(flipped);
  }
}

}  // namespace
}  // namespace cloze::formats
