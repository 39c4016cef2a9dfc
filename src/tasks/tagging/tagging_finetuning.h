// Fine-tunes a model that gives each word a tag, on a user's own sentences (tagged_text.h).
//
// The first piece of a word has its tag; its other pieces, [CLS], [SEP] and words whose tag is not
// known have none, in training and in scores. Sentences longer than a sequence are read through
// windows (piece_windows.h).
//
// The tags are those of the training file: O first, then by type and by place in an entity, those of no
// scheme by value if all are whole numbers, else by their bytes. A start model that was trained on
// the same tags keeps its classifier and their order; any other classifier is initialised afresh.
// Without training the tags are those of the start model. A tag of scored sentences that the model
// does not have is never predicted: it counts as wrong.
//
// finish() writes eval_results.json, the scores, and predictions.jsonl and predictions.conll, the
// tags of each sentence.
//
// Errors: UserError for a training file without tags or with a single one, for a start model without
// tags that is only scored, and for sentences of which it has no tag.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tasks/finetuning_task.h"
#include "tasks/labelled/class_scores.h"
#include "tasks/labelled/labelled_table.h"
#include "tasks/tagging/entity_scores.h"
#include "tasks/tagging/piece_windows.h"
#include "tasks/tagging/tagged_text.h"

namespace cloze::tasks {

struct TaggingFinetuningOptions {
  std::string train_file;
  std::string dev_file;    // scored while training and at its end; without tags only predicted
  double dev_share = 0.1;  // of train_file, held out where there is no dev_file; 0: nothing
  uint64_t split_seed = 0;
  TaggedColumns columns;
  int64_t max_sequence_length = 128;
  std::string class_weights = "none";  // of the tags: tasks/class_weights.h
  // Its tags are left out: the files say them.
  models::BertHead head{.kind = models::HeadKind::kTokenClassification};
};

class TaggingFinetuning : public FinetuningTask {
 public:
  // Keeps a reference to the tokenizer.
  TaggingFinetuning(TaggingFinetuningOptions options, const text::Tokenizer& tokenizer,
                    TaskOutput output);

  // Reads dev_file. UserError when no file is named.
  FinetuningPhases possible_phases();
  // Call once: reads the training file, if these phases need it, and settles the tags.
  void prepare(const models::BertHead& start, const FinetuningPhases& phases);

  models::BertHead head() const override { return options_.head; }
  std::string fresh_prefix() const override { return has_its_tags_ ? "" : "classifier."; }
  std::shared_ptr<const data::Dataset> training_data() override;
  double evaluate(inference::InferenceClient& client, int64_t step) override;
  std::string evaluated_on() const override;
  Scores finish(inference::InferenceClient& client, const std::filesystem::path& folder) override;
  std::string report() const override { return report_; }

 private:
  struct Part {
    std::vector<TaggedWords> sentences;
    std::vector<WordPieces> words;  // of each sentence
    PieceWindows windows;
  };
  struct Prediction {
    int64_t tag = 0;
    double probability = 0.0;
  };
  using Predictions = std::vector<std::vector<Prediction>>;  // of each word of each sentence
  // The words that have gold tags, where these are of a scheme.
  struct EntityWords {
    std::map<std::string, std::string> spellings;      // of tags, as the scores know them
    std::vector<std::vector<std::string_view>> words;  // of each sentence
    std::vector<TaggedSentence> tags;
  };
  // And where they are of none.
  struct ClassWords {
    std::vector<std::string> names;  // of tags: the model's, then those that it does not know
    std::vector<ClassPrediction> words;
    std::vector<LabelledText> rows;  // the words in their sentences
  };

  TaggedText read(const std::string& file) const;
  void take_tags_of(const models::BertHead& start);
  void take_tags(const TaggedText& text, const models::BertHead& start);
  void split(TaggedText text, const FinetuningPhases& phases);
  void weigh_tags(const std::vector<data::Sample>& samples);
  Part part_of(const std::string& name, std::vector<TaggedWords> sentences) const;
  int64_t number_of(const std::string& tag) const;
  void note_foreign_tags() const;
  std::vector<data::Sample> labelled_samples(const Part& part) const;
  Predictions predict(inference::InferenceClient& client) const;
  NamedScores score(const Predictions& predictions) const;
  bool has_entities() const;
  EntityWords entity_words(const Predictions& predictions) const;
  ClassWords class_words(const Predictions& predictions) const;
  std::string report_of(const Predictions& predictions) const;
  const std::string& name_of(const Prediction& prediction) const;
  void write_predictions(const Predictions& predictions, const std::filesystem::path& folder) const;
  bool is_example(const TaggedWords& sentence, const std::vector<Prediction>& predicted) const;
  void write_example(const Predictions& predictions, const std::filesystem::path& folder) const;

  TaggingFinetuningOptions options_;
  const text::Tokenizer& tokenizer_;
  TaskOutput output_;
  bool has_its_tags_ = false;  // the start model, in its classifier
  FinetuningPhases phases_;
  std::optional<TaggedText> dev_text_;  // until it is prepared
  std::string dev_name_;
  std::optional<Part> train_, dev_;
  std::string report_;  // of the last finish()
};

}  // namespace cloze::tasks
