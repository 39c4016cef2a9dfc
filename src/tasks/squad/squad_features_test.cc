#include "tasks/squad/squad_features.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/data_folder_test.h"
#include "base/error.h"
#include "tasks/squad/squad_fixture_test.h"

namespace cloze::tasks {
namespace {

const text::Tokenizer& tokenizer() {
  static const text::Tokenizer tokenizer = letter_tokenizer();
  return tokenizer;
}

// Sequences of 10 with a question of two tokens leave windows of 5.
SquadFeatureOptions small(SquadStyle style) {
  return {.max_sequence_length = 10, .document_stride = 2, .style = style, .with_labels = true};
}

SquadData one_question(const std::string& context, SquadQuestion question) {
  return {.contexts = {context}, .questions = {std::move(question)}};
}

std::string text_of(const data::Sample& sample) {
  std::string text;
  for (const int32_t id : sample.input_ids) {
    text += text.empty() ? "" : " ";
    text += tokenizer().vocabulary().token(id);
  }
  return text;
}

TEST(SquadFeaturesTest, GoogleWindowsStepByTheStride) {
  const SquadData data =
      one_question("a b c d e f g h", question_with("x y", {{.text = "d e", .start = 6}}));
  const SquadFeatures features = make_squad_features(data, tokenizer(), small(SquadStyle::kGoogle));
  ASSERT_EQ(features.windows.size(), 3u);
  EXPECT_EQ(text_of(squad_sample(data, features, features.windows[0])),
            "[CLS] x y [SEP] a b c d e [SEP]");
  EXPECT_EQ(text_of(squad_sample(data, features, features.windows[2])),
            "[CLS] x y [SEP] e f g h [SEP]");
  const data::Sample sample = squad_sample(data, features, features.windows[1]);
  EXPECT_EQ(sample.token_type_ids, (std::vector<int32_t>{0, 0, 0, 0, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(sample.start_position, 5);  // [CLS] x y [SEP] c d e
  EXPECT_EQ(sample.end_position, 6);
  EXPECT_EQ(features.windows[0].start_position, 7);
  EXPECT_EQ(features.windows[2].start_position, 0);  // begins at e: half of the answer is none
  EXPECT_EQ(features.windows[2].end_position, 0);
  // Nearest borders: a-e 0 1 2 1 0, c-g 0 1 2 1 0, e-h 0 1 1 0 in a shorter window.
  EXPECT_EQ(features.windows[0].best_end, 4u);
  EXPECT_EQ(features.windows[1].best_begin, 4u);
  EXPECT_EQ(features.windows[1].best_end, 6u);
  EXPECT_EQ(features.windows[2].best_end, 8u);
}

TEST(SquadFeaturesTest, HuggingFaceWindowsShareTheStride) {
  const SquadData data =
      one_question("a b c d e f g h i", question_with("x y", {{.text = "e", .start = 8}}));
  const SquadFeatures features =
      make_squad_features(data, tokenizer(), small(SquadStyle::kHuggingFace));
  ASSERT_EQ(features.windows.size(), 3u);
  EXPECT_EQ(text_of(squad_sample(data, features, features.windows[1])),
            "[CLS] x y [SEP] d e f g h [SEP]");
  EXPECT_EQ(text_of(squad_sample(data, features, features.windows[2])),
            "[CLS] x y [SEP] g h i [SEP]");
  EXPECT_EQ(features.windows[0].start_position, 8);  // the last token of the window
  EXPECT_EQ(features.windows[0].end_position, 8);
  EXPECT_EQ(features.windows[1].best_begin, 3u);
  EXPECT_EQ(features.windows[1].best_end, 8u);
}

TEST(SquadFeaturesTest, LongQuestionsAreCutByGoogleOnly) {
  SquadData data = one_question("a b", question_with("c d e f", {{.text = "b", .start = 2}}));
  SquadFeatureOptions options = small(SquadStyle::kGoogle);
  options.max_query_length = 3;
  SquadFeatures features = make_squad_features(data, tokenizer(), options);
  EXPECT_EQ(text_of(squad_sample(data, features, features.windows[0])),
            "[CLS] c d e [SEP] a b [SEP]");
  EXPECT_EQ(features.question_tokens, std::vector<int64_t>{4}) << "before it was cut";
  options.style = SquadStyle::kHuggingFace;
  features = make_squad_features(data, tokenizer(), options);
  EXPECT_EQ(text_of(squad_sample(data, features, features.windows[0])),
            "[CLS] c d e f [SEP] a b [SEP]");
}

TEST(SquadFeaturesTest, EmptyQuestionsAndContexts) {
  SquadFeatureOptions options = small(SquadStyle::kGoogle);
  options.with_labels = false;
  const SquadData data{.contexts = {"a", " "},
                       .questions = {question_with("", {}),
                                     {.id = "r", .question = "b", .context = 1},
                                     question_with("c", {})}};
  SquadFeatures features = make_squad_features(data, tokenizer(), options);
  EXPECT_EQ(features.first_window, (std::vector<size_t>{0, 1, 1, 2}));
  EXPECT_EQ(text_of(squad_sample(data, features, features.windows[0])), "[CLS] [SEP] a [SEP]");
  EXPECT_EQ(features.windows[0].start_position, -1);
  options.style = SquadStyle::kHuggingFace;
  features = make_squad_features(data, tokenizer(), options);
  EXPECT_EQ(text_of(squad_sample(data, features, features.windows_of(1)[0])),
            "[CLS] b [SEP] [SEP]");
}

TEST(SquadFeaturesTest, MisplacedAnswersAreNamed) {
  const SquadData data{.contexts = {"a b"},
                       .questions = {question_with("c", {{.text = "z", .start = 0}}),
                                     question_with("c", {{.text = "b", .start = 2}})}};
  SquadFeatures features = make_squad_features(data, tokenizer(), small(SquadStyle::kGoogle));
  EXPECT_EQ(features.misplaced, std::vector<size_t>{0});
  EXPECT_EQ(features.windows.size(), 1u);
  EXPECT_EQ(features.windows[0].question, 1u);
  features = make_squad_features(data, tokenizer(), small(SquadStyle::kHuggingFace));
  EXPECT_EQ(features.misplaced, std::vector<size_t>{0});
  EXPECT_EQ(features.windows.size(), 2u);
}

TEST(SquadFeaturesTest, ImpossibleQuestionsPointAtTheBeginning) {
  SquadData data = one_question("a b", question_with("c", {}));
  data.questions[0].is_impossible = true;
  const SquadFeatures features = make_squad_features(data, tokenizer(), small(SquadStyle::kGoogle));
  EXPECT_EQ(features.windows[0].start_position, 0);
  EXPECT_EQ(features.windows[0].end_position, 0);
  EXPECT_TRUE(features.misplaced.empty());
}

std::string refusal(const SquadData& data, const SquadFeatureOptions& options) {
  try {
    make_squad_features(data, tokenizer(), options);
  } catch (const UserError& error) {
    return error.what();
  }
  return "taken";
}

TEST(SquadFeaturesTest, SizesThatDoNotFitAreNamed) {
  const SquadData data = one_question("a b c d e f", question_with("c d", {}));
  SquadFeatureOptions options = small(SquadStyle::kGoogle);
  EXPECT_EQ(
      refusal(data, options),
      "question q has no answers and is not marked is_impossible; leave it out of the training "
      "file");
  options.with_labels = false;
  options.max_sequence_length = 5;
  EXPECT_EQ(refusal(data, options),
            "max_seq_length 5 leaves no room for the context of question q: the question takes 2 "
            "tokens, and the special ones are 3; raise it, or lower max_query_length (64)");
  options.max_sequence_length = 6;
  EXPECT_EQ(refusal(data, options), "taken");
  options.style = SquadStyle::kHuggingFace;
  EXPECT_EQ(
      refusal(data, options),
      "question q has 2 tokens, which leaves its context windows of 1: they cannot overlap by "
      "doc_stride 2 tokens; raise max_seq_length (6), or lower doc_stride");
  options.document_stride = 0;
  EXPECT_EQ(refusal(data, options), "doc_stride is 0; it must be from 1 to 2147483647");
}

// Quadratic work on a context or a question of this size would take minutes.
TEST(SquadFeaturesTest, AMillionWords) {
  std::string words;
  for (int i = 0; i < 1'000'000; ++i) words += "a ";
  const SquadData data =
      one_question(words, question_with(words, {{.text = "a", .start = 1'999'998}}));
  const SquadFeatures features = make_squad_features(data, tokenizer(), {.with_labels = true});
  EXPECT_EQ(features.questions[0].size(), 64u);
  EXPECT_EQ(features.windows.size(), 7812u);  // 1 + ceil((1,000,000 - 317) / 128)
  EXPECT_EQ(features.windows.back().end_position,
            static_cast<int32_t>(features.windows.back().end - features.windows.back().begin) + 65);
}

// The numbers of features that are published for SQuAD 1.1 at 384, 128 and 64.
TEST(SquadFeaturesTest, PublishedCounts) {
  const DataFolder data({"squad/dev-v1.1.json", "vocab/bert-base-uncased-vocab.txt"});
  if (!data.missing().empty()) GTEST_SKIP() << data.missing();
  const SquadData squad = read_squad(data / "squad/dev-v1.1.json");
  for (const auto profile : {text::Profile::kGoogle, text::Profile::kHuggingFace}) {
    const text::Tokenizer uncased(
        text::Vocabulary::load(data / "vocab/bert-base-uncased-vocab.txt"), {.profile = profile});
    SquadFeatureOptions options{.with_labels = true, .threads = 2};
    EXPECT_EQ(make_squad_features(squad, uncased, options).windows.size(), 10833u);
    options.style = SquadStyle::kHuggingFace;
    EXPECT_EQ(make_squad_features(squad, uncased, options).windows.size(), 10784u);
  }
}

}  // namespace
}  // namespace cloze::tasks
