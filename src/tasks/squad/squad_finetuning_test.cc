#include "tasks/squad/squad_finetuning.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "platform/files/atomic_file.h"
#include "tasks/squad/squad_fixture_test.h"

namespace cloze::tasks {
namespace {

class SquadFinetuningTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }

  // One question on "ab cd"; `more` are further members of it.
  SquadFinetuning task_on(const std::string& version, const std::string& more,
                          bool with_negative = false) {
    platform::write_file_atomically(
        path_, R"({"version": ")" + version +
                   R"(", "data": [{"title": "t", "paragraphs": [{"context": "ab cd", "qas": [)" +
                   R"({"id": "1", "question": "ab", )" + more + "}]}]}]}");
    return {{.train_file = path_,
             .predict_file = path_,
             .version_2_with_negative = with_negative,
             .features = {},
             .prediction = {}},
            tokenizer_,
            {.examine =
                 [this](const std::string& file, const std::vector<std::string_view>& texts) {
                   EXPECT_EQ(file, path_);
                   examined_.assign(texts.begin(), texts.end());
                 },
             .notice = [this](const std::string& line) { notices_.push_back(line); },
             .result = {},
             .watch = {}}};
  }

  const std::string path_ = testing::TempDir() + "squad_finetuning_test.json";
  const text::Tokenizer tokenizer_ = letter_tokenizer();
  std::vector<std::string> notices_;
  std::vector<std::string> examined_;  // the latest texts
};

TEST_F(SquadFinetuningTest, TrainsOnTheWindowsOfItsQuestions) {
  SquadFinetuning task = task_on("1.1", R"("answers": [{"text": "cd", "answer_start": 3}])");
  EXPECT_EQ(task.training_data()->size(), 1);
  EXPECT_EQ(examined_, (std::vector<std::string>{"ab cd", "ab"}));
  EXPECT_EQ(notices_,
            std::vector<std::string>{
                path_ + ": 1 questions, 1 features, 0 answers are not where the file says"});
}

TEST_F(SquadFinetuningTest, ScoresWhatHasAnswers) {
  SquadFinetuning with = task_on("1.1", R"("answers": [{"text": "cd", "answer_start": 3}])");
  with.read_questions();
  EXPECT_TRUE(with.can_be_scored());
  for (const char* rest : {R"("answers": [])", R"("note": "to be answered")"}) {
    SquadFinetuning without = task_on("1.1", rest);
    without.read_questions();
    EXPECT_FALSE(without.can_be_scored());
  }
}

TEST_F(SquadFinetuningTest, QuestionsThatAllHaveAnswersAreSquad1) {
  SquadFinetuning task =
      task_on("v2.0", R"("answers": [{"text": "cd", "answer_start": 3}], "is_impossible": false)");
  task.read_questions();
  EXPECT_TRUE(task.can_be_scored());
}

TEST_F(SquadFinetuningTest, QuestionsWithoutAnswerHaveToBeAnnounced) {
  constexpr const char* kImpossible = R"("answers": [], "is_impossible": true)";
  EXPECT_THROW(task_on("v2.0", kImpossible).read_questions(), UserError);
  SquadFinetuning announced = task_on("v2.0", kImpossible, true);
  announced.read_questions();
  EXPECT_TRUE(announced.can_be_scored()) << "as in a dev file of such questions alone";
}

}  // namespace
}  // namespace cloze::tasks
