#include "formats/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <string>

#include "base/error.h"
#include "platform/files/atomic_file.h"

namespace cloze::formats {
namespace {

std::string error_of(std::string_view text) {
  const auto result = parse_json(text);
  return result ? "none" : result.error().message;
}

TEST(Json, ReadsValuesAndSkipsComments) {
  const auto result = parse_json("{ // the batch\n \"a\": [1, -2, 2.5, true, null, \"\\u00e9\"] }");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->at("a").size(), 6u);
  EXPECT_EQ(result->at("a")[1], -2);
  EXPECT_EQ(result->at("a")[2], 2.5);
  EXPECT_EQ(result->at("a")[5], "\xc3\xa9");
}

TEST(Json, RefusesARepeatedKeyAndSaysWhere) {
  const std::string text = "{\n  \"seed\": 1,\n  \"seed\": 2\n}";
  const auto result = parse_json(text);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "key \"seed\" appears twice");
  EXPECT_EQ(position_at(text, result.error().offset).line, 3);
}

TEST(Json, AllowsTheSameKeyInDifferentObjects) {
  EXPECT_EQ(error_of(R"({"a": {"b": 1}, "c": {"b": 2}, "b": 3})"), "none");
}

TEST(Json, RefusesDeepNesting) {
  const std::string deepest(kMaxJsonDepth, '[');
  EXPECT_EQ(error_of(deepest + std::string(kMaxJsonDepth, ']')), "none");
  EXPECT_EQ(error_of(std::string(100000, '[')), "nested deeper than 64 levels");
}

TEST(Json, RefusesNumbersOutOfRangeAndBrokenText) {
  EXPECT_NE(error_of("{\"a\": 1e999}").find("out of range"), std::string::npos);
  for (const char* text : {"", "{", "{\"a\":}", "[1,]", "{} {}", "\"\xff\"", "nul", "{'a': 1}"}) {
    EXPECT_NE(error_of(text), "none") << text;
  }
}

TEST(Json, FileErrorNamesFileLineAndColumn) {
  const std::string path = testing::TempDir() + "json_test_broken.json";
  platform::write_file_atomically(path, "{\n  \"a\": oops\n}\n");
  try {
    read_json_file(path);
    FAIL() << "no error";
  } catch (const DataError& error) {
    EXPECT_EQ(std::string(error.what()).find(path + ":2:"), 0u) << error.what();
  }
  std::filesystem::remove(path);
}

TEST(Json, WritesTextThatReadsBack) {
  Json value{{"z", 1}, {"a", std::numeric_limits<double>::quiet_NaN()}};
  EXPECT_EQ(json_line(value), R"({"z":1,"a":null})");
  EXPECT_EQ(json_line(Json("\xff")), "\"\xef\xbf\xbd\"");
  EXPECT_TRUE(json_text(value).ends_with("}\n"));
}

TEST(Json, NullIsANumberThatIsNotFinite) {
  EXPECT_TRUE(std::isnan(number_or_nan(nullptr)));
  EXPECT_EQ(number_or_nan(2.5), 2.5);
  EXPECT_EQ(number_or_nan(2), 2.0);
}

TEST(Json, MessagesShowTheBeginningOfALongText) {
  const std::string text(2'000'000, 'x');
  const std::string accents = "a" + [] {
    std::string many;
    for (int i = 0; i < 1000; ++i) many += "\u00E9";
    return many;
  }();
  for (const std::string& bad :
       {"{\"text\": \"" + text, "{\"" + text + "\": 1, \"" + text + "\": 2}",
        "[1" + std::string(2'000'000, '0') + "]", "{\"text\": \"" + accents}) {
    const auto result = parse_json(bad);
    ASSERT_FALSE(result);
    EXPECT_LT(result.error().message.size(), 250u);
    EXPECT_NE(result.error().message.find(" bytes)"), std::string::npos) << result.error().message;
  }
}

TEST(Json, OnlyLoneSurrogatesAreReplaced) {
  const auto replaced = [](std::string_view text) { return replace_lone_surrogates(text); };
  EXPECT_EQ(replaced(R"("\ud800")"), R"("\ufffd")");
  EXPECT_EQ(replaced(R"("\uDFFF\uD800x")"), R"("\ufffd\ufffdx")");
  EXPECT_EQ(replaced(R"("\ud800\ud83d\ude00\ude00")"), R"("\ufffd\ud83d\ude00\ufffd")");
  for (const std::string_view kept : {R"("\ud83d\ude00")", R"("\\ud800")", R"("\n\\\u00e9")",
                                      R"("\ud80")", R"("\ud80z00")", "\\", ""}) {
    EXPECT_EQ(replaced(kept), kept);
  }
}

}  // namespace
}  // namespace cloze::formats
