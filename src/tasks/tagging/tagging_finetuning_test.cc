#include "tasks/tagging/tagging_finetuning.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "inference/small_model_test.h"
#include "platform/files/file.h"
#include "platform/files/own_folder_test.h"

namespace cloze::tasks {
namespace {

using Names = std::vector<std::string>;

constexpr FinetuningPhases kAll{.training = true, .evaluation = true, .prediction = true};
constexpr FinetuningPhases kScoring{.evaluation = true};

class TaggingFinetuningTest : public platform::OwnFolderTest {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    platform::write_file_atomically(folder_ / name, text);
    return (folder_ / name).string();
  }
  // So many sentences of two words.
  std::string sentences(const std::string& name, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += "word5 B-PER\nword6 O\n\n";
    return write(name, text);
  }
  TaggingFinetuning task(TaggingFinetuningOptions options) {
    return {
        std::move(options),
        model_.tokenizer,
        {.examine = [](const std::string&, const std::vector<std::string_view>&) {},
         .notice = [this](const std::string& line) { notices_ += line + "\n"; },
         .result = [this](const std::string& line) { results_ += line + "\n"; },
         .watch = [](inference::InferenceClient&, int64_t) { return std::shared_ptr<void>(); }}};
  }
  static models::BertHead tagger(Names tags) {
    return {.kind = models::HeadKind::kTokenClassification, .labels = std::move(tags)};
  }
  bool is_said(const std::string& part) const { return notices_.find(part) != std::string::npos; }
  std::string read(const std::string& name) const { return platform::read_file(folder_ / name); }

  const inference::SmallModelFolder model_folder_{models::HeadKind::kTokenClassification,
                                                  "tagging_finetuning_test"};
  const inference::PretrainedModel model_ = inference::open_pretrained_model(model_folder_.path());
  std::string notices_, results_;
};

TEST_F(TaggingFinetuningTest, TagsAreInOrder) {
  const auto tags_of = [&](const std::string& text) {
    TaggingFinetuning one = task({.train_file = write("t", text), .dev_share = 0});
    one.prepare({}, {.training = true});
    EXPECT_EQ(one.fresh_prefix(), "classifier.");
    return one.head().labels;
  };
  EXPECT_EQ(tags_of("a I-Z\nb I-A\nc O\nd B-A\n\ne B-Z\n"),
            (Names{"O", "B-A", "I-A", "B-Z", "I-Z"}));
  EXPECT_EQ(tags_of("a VERB\nb NOUN\n"), (Names{"NOUN", "VERB"}));
  EXPECT_EQ(tags_of("a 10\nb 9\n"), (Names{"9", "10"}));
  EXPECT_THROW(tags_of("a O\nb O\n"), UserError);
  EXPECT_THROW(tags_of("a\nb\n"), UserError);
}

TEST_F(TaggingFinetuningTest, AStartModelOfTheSameTagsKeepsItsClassifier) {
  TaggingFinetuning same = task({.train_file = sentences("t", 10)});
  same.prepare(tagger({"B-PER", "O"}), kAll);
  EXPECT_EQ(same.head().labels, (Names{"B-PER", "O"}));
  EXPECT_EQ(same.fresh_prefix(), "");
  TaggingFinetuning other = task({.train_file = sentences("t", 10)});
  models::BertHead classifier = tagger({"O", "B-PER"});
  classifier.kind = models::HeadKind::kSequenceClassification;
  other.prepare(classifier, kAll);
  EXPECT_EQ(other.fresh_prefix(), "classifier.");
}

TEST_F(TaggingFinetuningTest, TagsAreWeighedByTheWordsOfTraining) {
  TaggingFinetuning weighed = task(
      {.train_file = write("t", "a X\nb Y\n\nc Y\n"), .dev_share = 0, .class_weights = "balanced"});
  weighed.prepare({}, {.training = true});
  weighed.training_data();
  EXPECT_EQ(weighed.head().class_weights, (std::vector<float>{1.5f, 0.75f}));
  EXPECT_TRUE(is_said("class weights from 0.75 (Y) to 1.5 (X)"));
}

// The first piece of each word is labelled, at its place in the sequence; a long sentence once over.
TEST_F(TaggingFinetuningTest, FirstPiecesAreLabelled) {
  std::string text =
      "[{\"tokens\": [\"word5,\", \"word6\"], \"tags\": [\"X\", \"Y\"]},"
      "{\"tokens\": [\"word5\", \"word6\"], \"tags\": [null, \"Y\"]},"
      "{\"tokens\": [\"word5\"], \"tags\": [null]}]";
  TaggingFinetuning two = task({.train_file = write("two", text), .dev_share = 0});
  two.prepare({}, {.training = true});
  const auto samples = two.training_data();
  ASSERT_EQ(samples->size(), 2);  // the third teaches nothing
  const data::Sample first = samples->sample(0, 0);
  EXPECT_EQ(first.input_ids, (std::vector<int32_t>{2, 5, 1, 6, 3}));
  EXPECT_EQ(first.masked_positions, (std::vector<int32_t>{1, 3}));
  EXPECT_EQ(first.masked_labels, (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(samples->sample(1, 0).masked_positions, (std::vector<int32_t>{2}));

  std::string words;
  for (int i = 0; i < 100; ++i) words += i % 3 == 0 ? "word7 X\n" : "word8 Y\n";
  TaggingFinetuning cut =
      task({.train_file = write("long", words), .dev_share = 0, .max_sequence_length = 20});
  cut.prepare({}, {.training = true});
  EXPECT_TRUE(
      is_said("1 of 1 sentences are longer than seq_length 20, and are read through windows"));
  int64_t labels = 0;
  const auto windows = cut.training_data();
  for (int64_t w = 0; w < windows->size(); ++w) {
    const data::Sample sample = windows->sample(w, 0);
    EXPECT_LE(sample.input_ids.size(), 20u);
    for (size_t i = 0; i < sample.masked_positions.size(); ++i, ++labels) {
      const auto id = sample.input_ids.at(static_cast<size_t>(sample.masked_positions[i]));
      EXPECT_EQ(id, 7 + sample.masked_labels[i]);
    }
  }
  EXPECT_EQ(labels, 100);
}

TEST_F(TaggingFinetuningTest, ThePartThatIsHeldOutIsScoredWithoutTraining) {
  const std::string file = sentences("t", 20);
  TaggingFinetuning trained = task({.train_file = file});
  EXPECT_TRUE(trained.possible_phases().evaluation);
  trained.prepare({}, kAll);
  EXPECT_TRUE(is_said("held out 2 of 20 sentences to score on\n"));
  EXPECT_EQ(trained.training_data()->size(), 18);
  TaggingFinetuning scored = task({.train_file = file});
  scored.prepare(trained.head(), kScoring);
  EXPECT_EQ(scored.evaluated_on(), trained.evaluated_on());
}

TEST_F(TaggingFinetuningTest, ForeignTagsCountAsWrongUnlessAllAre) {
  TaggingFinetuning some = task({.dev_file = write("t", "a B-PER\nb B-LOC\nc O\n")});
  some.possible_phases();
  some.prepare(tagger({"O", "B-PER"}), kScoring);
  EXPECT_TRUE(is_said("have tags that the model does not have, and count as wrong: B-LOC\n"));
  TaggingFinetuning none = task({.dev_file = write("t", "a B-PER\nb B-LOC\n")});
  none.possible_phases();
  EXPECT_THROW(none.prepare(tagger({"NOUN", "VERB"}), kScoring), UserError);
  TaggingFinetuning no_tagger = task({.dev_file = write("t", "a B-PER\n")});
  no_tagger.possible_phases();
  EXPECT_THROW(no_tagger.prepare({}, kScoring), UserError);
  TaggingFinetuning nothing = task({});
  EXPECT_THROW(nothing.possible_phases(), UserError);
}

TEST_F(TaggingFinetuningTest, ScoresAndPredictionsAreOfEveryWord) {
  const auto client = [&] {
    return inference::InferenceClient(
        std::make_shared<const inference::PackedModel>(inference::PackedModel::pack(model_, {})),
        1);
  };
  TaggingFinetuning scored =
      task({.dev_file = write("t", "word5\tyes\nword6\tno\n\nword7\tmaybe\n")});
  EXPECT_TRUE(scored.possible_phases().prediction);
  scored.prepare(model_.head, {.evaluation = true, .prediction = true});
  auto first = client();
  const Scores scores = scored.finish(first, folder_);
  const double evaluated = scored.evaluate(first, 7);
  EXPECT_NEAR(scores.at("accuracy"), 100 * evaluated, 1e-9);
  EXPECT_TRUE(results_.starts_with("accuracy "));
  EXPECT_NEAR(formats::read_json_file(folder_ / "eval_results.json").at("accuracy").get<double>(),
              evaluated, 1e-9);
  // The model does not know the tag of the last word.
  EXPECT_NE(scored.report().find("<div class=\"text\">word7<br/>word7</div>"), std::string::npos);

  // What it wrote can be read again, with the predictions as tags.
  const TaggedText columns = read_tagged_text(folder_ / "predictions.conll", {});
  const TaggedText json = read_tagged_text(folder_ / "predictions.jsonl", {.tag = "predicted"});
  ASSERT_EQ(columns.sentences.size(), 2u);
  int right = 0;
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(columns.sentences[i].words, json.sentences[i].words);
    EXPECT_EQ(columns.sentences[i].tags, json.sentences[i].tags);
    const Names gold = i == 0 ? Names{"yes", "no"} : Names{"maybe"};
    for (size_t w = 0; w < gold.size(); ++w)
      right += columns.sentences[i].tags[w] == gold[w] ? 1 : 0;
  }
  EXPECT_NEAR(evaluated, right / 3.0, 1e-12);

  TaggingFinetuning tagged = task({.dev_file = write("t", "word5\nword6\n\nword7\n")});
  const FinetuningPhases phases = tagged.possible_phases();
  EXPECT_FALSE(phases.evaluation);
  EXPECT_TRUE(is_said("has no tags, and is not scored\n"));
  tagged.prepare(model_.head, phases);
  auto second = client();
  EXPECT_TRUE(tagged.finish(second, folder_).empty());
  EXPECT_EQ(read_tagged_text(folder_ / "predictions.conll", {}).sentences[0].tags,
            columns.sentences[0].tags);
}

}  // namespace
}  // namespace cloze::tasks
