// What fill, answer and classify say of text that the model's vocabulary does not have.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/run_command_test.h"
#include "inference/small_model_test.h"
#include "platform/files/atomic_file.h"

namespace cloze::cli {
namespace {

using Words = std::vector<std::string>;
using models::HeadKind;

// What the command says after its line about memory.
std::string note_of(const std::string& command, HeadKind head, const Words& inputs) {
  const inference::SmallModelFolder model(head, "unknown_note_test");
  Words words = {command, "--init-checkpoint", model.path().string()};
  words.insert(words.end(), inputs.begin(), inputs.end());
  const CommandResult result = run_command(words);
  EXPECT_EQ(result.status, ExitCode::kSuccess) << result.error;
  return result.error.substr(result.error.find('\n') + 1);
}

std::string known(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += " word7";
  return text;
}

TEST(UnknownNote, OfOneText) {
  EXPECT_EQ(
      note_of("fill", HeadKind::kPretraining, {"--text", "\u5317 [MASK]" + known(9)}),
      "note: 1 of the text's 10 tokens are [UNK], most often for \u5317 (1): the model cannot "
      "tell what these mean\n");
  EXPECT_EQ(note_of("fill", HeadKind::kPretraining, {"--text", "word7 [MASK] word8"}), "");
}

TEST(UnknownNote, OfTextThatTheModelWasNotMadeFor) {
  EXPECT_EQ(note_of("classify", HeadKind::kSequenceClassification,
                    {"--text", "\u5317 \u5317 \u4eac word5"}),
            "note: 3 of the text's 4 tokens are [UNK], most often for \u5317 (2), \u4eac (1): the "
            "model cannot tell what these mean, and was hardly made for such text\n");
}

TEST(UnknownNote, OfSeveral) {
  EXPECT_EQ(note_of("classify", HeadKind::kSequenceClassification,
                    {"--text", "zoo" + known(9), "--text", "word5", "--text", "zoo\tzoo word5"}),
            "note: 2 of 3 texts have [UNK] among their tokens, 3 of 14 in all, most often for z "
            "(3): the model cannot tell what these mean, and was hardly made for such text\n");
}

TEST(UnknownNote, OfAQuestionAndItsText) {
  EXPECT_EQ(note_of("answer", HeadKind::kQuestionAnswering,
                    {"--question", "who word5", "--context", "word6" + known(17)}),
            "note: 1 of the input's 20 tokens are [UNK], most often for w (1): the model cannot "
            "tell what these mean\n");
}

TEST(UnknownNote, OfBlanksThatAreScored) {
  const std::string file = testing::TempDir() + "unknown_note_test.jsonl";
  platform::write_file_atomically(file, R"({"text": "zoo [MASK]", "answer": "word5"})");
  EXPECT_EQ(note_of("fill", HeadKind::kPretraining, {"--score", file}),
            "note: 1 of the text's 1 tokens are [UNK], most often for z (1): the model cannot "
            "tell what these mean, and was hardly made for such text\n");
}

}  // namespace
}  // namespace cloze::cli
