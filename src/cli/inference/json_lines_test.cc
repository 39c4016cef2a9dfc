#include "cli/inference/inference_options.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "platform/files/atomic_file.h"

namespace cloze::cli {
namespace {

std::string path_of(const std::string& content) {
  const std::string path = testing::TempDir() + "json_lines_test.jsonl";
  platform::write_file_atomically(path, content);
  return path;
}

TEST(JsonLines, EachLineIsAnObject) {
  const auto items = read_json_lines(path_of("{\"a\": \"x\", \"more\": 1}\n{\"a\": \"y\"}"), {"a"});
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[0].at("more"), 1);
  EXPECT_EQ(items[1].at("a"), "y");
}

TEST(JsonLines, BlankLinesAreSkippedAndCounted) {
  const auto items = read_json_lines(path_of("\n{\"a\": \"x\"}\n \r\n{\"a\": \"y\"}\n\n"), {"a"});
  EXPECT_EQ(items.size(), 2u);
  try {
    read_json_lines(path_of("{\"a\": \"x\"}\n\n[]\n"), {"a"});
    ADD_FAILURE();
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find(":3 must be"), std::string::npos) << error.what();
  }
  EXPECT_THROW(read_json_lines(path_of("\n\n"), {"a"}), UserError);
}

TEST(JsonLines, WhatDoesNotFitIsNamedWithItsLine) {
  for (const char* bad : {"{\"a\": 1, \"b\": \"y\"}", "{\"a\": \"x\"}", "[]"}) {
    const std::string path = path_of("{\"a\": \"x\", \"b\": \"y\"}\n" + std::string(bad) + "\n");
    try {
      read_json_lines(path, {"a", "b"});
      ADD_FAILURE() << bad;
    } catch (const DataError& error) {
      EXPECT_EQ(error.what(), path + ":2 must be a JSON object with a text for each of a, b");
    }
  }
  for (const char* bad : {"{\"a\": \"x\"}\n{", "{\"a\": \"x\", \"c\": 5}"}) {
    EXPECT_THROW(read_json_lines(path_of(bad), {"a"}, {"c"}), DataError) << bad;
  }
  EXPECT_THROW(read_json_lines(path_of(""), {"a"}), UserError);
}

}  // namespace
}  // namespace cloze::cli
