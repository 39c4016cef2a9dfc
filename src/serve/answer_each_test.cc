#include "serve/request_queue.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace cloze::serve {
namespace {

// Answers each text with its length; refuses "bad", fails on "broken", and has diverged on "odd".
struct LengthModel {
  std::vector<size_t> batches;
  std::vector<Answer> operator()(std::span<const Input> inputs) {
    batches.push_back(inputs.size());
    std::vector<formats::Json> values;
    for (const Input& input : inputs) {
      if (input.first == "bad") throw_user_error("\"bad\" cannot be measured");
      if (input.first == "broken") throw_environment_error("no memory");
      if (input.first == "odd") throw_data_error("the logits are not finite numbers");
      values.push_back(input.first.size());
    }
    return answers_of(std::move(values));
  }
};

std::vector<Input> inputs_of(const std::vector<std::string>& texts) {
  std::vector<Input> inputs;
  for (const std::string& text : texts) inputs.push_back({.first = text});
  return inputs;
}

TEST(AnswerEach, RunsGoodInputsTogether) {
  LengthModel model;
  const auto outputs = answer_each(std::ref(model), inputs_of({"a", "bb", "ccc"}));
  ASSERT_EQ(outputs.size(), 3u);
  EXPECT_EQ(outputs[2].answer.value, 3);
  EXPECT_EQ(model.batches, std::vector<size_t>{3});
  EXPECT_TRUE(answer_each(std::ref(model), {}).empty());
}

TEST(AnswerEach, ABadInputSpoilsOnlyItself) {
  for (size_t bad = 0; bad < 7; ++bad) {
    std::vector<std::string> texts(7, "xx");
    texts[bad] = "bad";
    texts[6] = "bad";
    LengthModel model;
    const auto outputs = answer_each(std::ref(model), inputs_of(texts));
    ASSERT_EQ(outputs.size(), 7u);
    for (size_t i = 0; i < 7; ++i) {
      const bool is_bad = i == bad || i == 6;
      EXPECT_EQ(outputs[i].error, is_bad ? "\"bad\" cannot be measured" : "") << i;
      EXPECT_EQ(outputs[i].answer.value, is_bad ? formats::Json() : formats::Json(2));
    }
  }
}

TEST(AnswerEach, AnInputThatTheModelFailsOnSpoilsOnlyItself) {
  LengthModel model;
  const auto outputs = answer_each(std::ref(model), inputs_of({"a", "odd", "bad"}));
  EXPECT_EQ(outputs[0].answer.value, 1);
  EXPECT_EQ(outputs[1].error, "the logits are not finite numbers");
  EXPECT_TRUE(outputs[1].is_models_fault);
  EXPECT_FALSE(outputs[2].is_models_fault);
}

TEST(AnswerEach, OtherErrorsPassThrough) {
  LengthModel model;
  EXPECT_THROW(answer_each(std::ref(model), inputs_of({"a", "broken"})), EnvironmentError);
  const Handler forgets = [](auto) { return std::vector<Answer>(); };
  EXPECT_THROW(answer_each(forgets, inputs_of({"a"})), InternalError);
}

}  // namespace
}  // namespace cloze::serve
