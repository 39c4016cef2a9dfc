#include "tasks/squad/question_answerer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "inference/small_model_test.h"

namespace cloze::tasks {
namespace {

std::string words(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("word{} ", 5 + i % 90);
  return text;
}

// The model has 64 positions.
class QuestionAnswererTest : public testing::Test {
 protected:
  std::vector<std::vector<Answer>> answer(const std::vector<QuestionAndContext>& questions) {
    std::vector<std::vector<Answer>> lists;
    for (Answers& one : answerer_.answer(questions, {})) lists.push_back(std::move(one.answers));
    return lists;
  }
  std::string refusal(const std::vector<QuestionAndContext>& questions) {
    try {
      answer(questions);
    } catch (const UserError& error) {
      return error.what();
    }
    return "taken";
  }

  const inference::SmallModelFolder folder_{models::HeadKind::kQuestionAnswering,
                                            "question_answerer_test"};
  QuestionAnswerer answerer_{
      std::make_shared<const inference::PackedModel>(
          inference::PackedModel::pack(inference::open_pretrained_model(folder_.path()), {})),
      1};
};

TEST_F(QuestionAnswererTest, EachQuestionHasItsOwnTopK) {
  const QuestionAndContext few{"word5", words(40), 3}, many{"word6", words(40), 100};
  const auto alone = answer({few});
  const auto together = answer({few, many});
  ASSERT_EQ(alone[0].size(), 3u);
  ASSERT_EQ(together[0].size(), 3u);
  EXPECT_EQ(together[1].size(), 100u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(together[0][i].text, alone[0][i].text);
    EXPECT_NEAR(together[0][i].probability, alone[0][i].probability, 1e-4) << i;
  }
}

// With 64 positions the first window ends after word 60.
TEST_F(QuestionAnswererTest, AnAnswerMayLieAcrossTheBorderOfAWindow) {
  const auto border = std::ssize(words(60));
  const auto lies_across = [&](const Answer& answer) {
    return answer.start < border && answer.end > border;
  };
  const std::vector<Answer> all = answer({{"word5", words(80), 100'000}})[0];
  EXPECT_TRUE(std::ranges::any_of(all, lies_across)) << all.size() << " answers";
}

TEST_F(QuestionAnswererTest, AQuestionLeavesRoomForTheText) {
  EXPECT_EQ(refusal({{words(60), words(80)}}), "taken");
  EXPECT_EQ(refusal({{words(61), words(80)}}),
            "the question has 61 tokens, the model has 64 positions; shorten it to 60 tokens");
  EXPECT_EQ(refusal({{"word5", "word6"}, {words(70), "word6"}}),
            "the question of input 2 has 70 tokens, the model has 64 positions; shorten it to 60 "
            "tokens");
}

TEST_F(QuestionAnswererTest, AQuestionThatIsTooLongIsCut) {
  models::BertConfig config = inference::SmallModelFolder::config();
  config.max_position_embeddings = 128;
  const inference::SmallModelFolder folder(models::HeadKind::kQuestionAnswering, "long_questions",
                                           config);
  QuestionAnswerer answerer(
      std::make_shared<const inference::PackedModel>(
          inference::PackedModel::pack(inference::open_pretrained_model(folder.path()), {})),
      1);
  const std::string context = words(10);
  const std::vector<QuestionAndContext> questions = {
      {words(64), context}, {words(80), context}, {words(64) + "word7", context}};
  const std::vector<Answers> all = answerer.answer(questions, {});
  EXPECT_EQ(answers_json(all[0]).size(), 1u);
  EXPECT_EQ(answers_json(all[1]).at("truncated").dump(), R"({"tokens":80,"kept":64})");
  EXPECT_EQ(all[1].answers[0].probability, all[2].answers[0].probability);
}

TEST_F(QuestionAnswererTest, WhatIsEmptyIsRefused) {
  EXPECT_EQ(refusal({{"", "word6"}}),
            "the question is empty; give a question and a text that answers it");
  EXPECT_EQ(refusal({{"word5", "word6"}, {"word5", ""}}),
            "the context of input 2 is empty; give a question and a text that answers it");
}

}  // namespace
}  // namespace cloze::tasks
