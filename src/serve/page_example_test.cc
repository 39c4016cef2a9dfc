#include "serve/page_example.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/error.h"
#include "platform/files/atomic_file.h"

namespace cloze::serve {
namespace {

namespace fs = std::filesystem;
using formats::Json;

// Models that give one answer to everything.
HeadService answering(const std::string& answer) {
  return {.form = {.path = "/answer", .first_field = "question", .second_field = "context"},
          .handler = [answer](std::span<const Input> inputs) {
            return answers_of(std::vector<Json>(
                inputs.size(), {{"answers", {{{"text", answer}, {"probability", 1.0}}}}}));
          }};
}
HeadService filling(const std::string& word) {
  return {.form = {.path = "/fill", .first_field = "text"},
          .handler = [word](std::span<const Input> inputs) {
            const Json candidates = {{{"token", word}, {"probability", 1.0}}};
            return answers_of(std::vector<Json>(
                inputs.size(), {{"blanks", {{{"start", 0}, {"candidates", candidates}}}}}));
          }};
}
HeadService classifying(const std::string& label) {
  return {.form = {.path = "/classify", .first_field = "text", .second_field = "text_pair"},
          .handler = [label](std::span<const Input> inputs) {
            return answers_of(std::vector<Json>(
                inputs.size(), {{"classes", {{{"label", label}, {"probability", 1.0}}}}}));
          }};
}

HeadService tagging() {
  constexpr static std::string_view kModes[] = {"first"};
  return {
      .form = {.path = "/tag", .first_field = "text", .mode_field = "aggregation", .modes = kModes},
      .handler = [](std::span<const Input> inputs) {
        EXPECT_EQ(inputs[0].mode, "first");
        return answers_of(std::vector<Json>(
            1,
            {{"tags", {{{"tag", "PER"}, {"text", "Anna"}}, {{"tag", "LOC"}, {"text", "Ulm"}}}}}));
      }};
}

class PageExample : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(checkpoint_); }
  void TearDown() override { fs::remove_all(run_); }
  std::optional<Json> example(const HeadService& head) const {
    return page_example(head, checkpoint_);
  }
  void store(const fs::path& folder, const std::string& text) const {
    platform::write_file_atomically(folder / "example.json", text);
  }

  const fs::path run_ = fs::path(testing::TempDir()) / "page_example_test";
  const fs::path checkpoint_ = run_ / "checkpoint-3";
};

TEST_F(PageExample, IsOneThatTheModelAnswersRight) {
  const auto year = example(answering("1775"));
  ASSERT_TRUE(year);
  EXPECT_EQ(year->at("question"), "In which year was New Stavewick founded?");
  EXPECT_NE(year->at("context").get<std::string>().find("since 1775"), std::string::npos);
  EXPECT_FALSE(example(answering("a bridge")));
  EXPECT_EQ(*example(filling("France")), Json({{"text", "Paris is the capital of [MASK]."}}));
  EXPECT_EQ(*example(filling("piglet")), Json({{"text", "On Friday the sow had a [MASK]."}}));
  EXPECT_FALSE(example(filling("the")));
  EXPECT_FALSE(example(classifying("1")));
}

TEST_F(PageExample, OfTheModelsOwnDataComesFirst) {
  store(run_, R"({"input": {"text": "ein Film", "text_pair": "gut"}, "answer": "1"})");
  EXPECT_EQ(*example(classifying("1")), Json({{"text", "ein Film"}, {"text_pair", "gut"}}));
  EXPECT_FALSE(example(classifying("0")));
  store(checkpoint_, R"({"input": {"text": "zwei"}, "answer": "1"})");
  EXPECT_EQ(*example(classifying("1")), Json({{"text", "zwei"}}));
}

TEST_F(PageExample, OfTagsHasAllOfThem) {
  store(run_, R"({"input": {"text": "Anna in Ulm"}, "answer": "PER Anna, LOC Ulm"})");
  EXPECT_EQ(*example(tagging()), Json({{"text", "Anna in Ulm"}}));
  store(run_, R"({"input": {"text": "Anna in Ulm"}, "answer": "PER Anna"})");
  EXPECT_FALSE(example(tagging()));
}

TEST_F(PageExample, ThatCannotBeReadIsNone) {
  for (const char* text : {"", "{", "[]", "{\"input\": 1, \"answer\": \"1\"}", "{\"answer\": 1}"}) {
    store(run_, text);
    EXPECT_FALSE(example(classifying("1"))) << text;
  }
}

TEST_F(PageExample, IsNoneForAModelThatFails) {
  HeadService head = filling("");
  head.handler = [](std::span<const Input>) -> std::vector<Answer> {
    throw_data_error("the logits are not finite numbers");
  };
  EXPECT_FALSE(example(head));
}

}  // namespace
}  // namespace cloze::serve
