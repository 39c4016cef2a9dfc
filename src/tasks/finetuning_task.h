// A task that a model is fine-tuned on: the head it needs, its samples, and what a model scores on
// them. Whoever trains asks for these; what there is to say goes to a TaskOutput.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/dataset.h"
#include "inference/inference_client.h"
#include "models/bert_heads.h"
#include "tasks/seed_summary.h"
#include "text/tokenizer.h"

namespace cloze::tasks {

struct TaskOutput {
  std::function<void(const std::string&)> notice;  // a line on what was read, scored or written
  std::function<void(const std::string&)> result;  // a line with the scores
  // Watches a client on its way through so many sequences, until what it returns is gone.
  std::function<std::shared_ptr<void>(inference::InferenceClient&, int64_t sequences)> watch;
};

struct FinetuningPhases {
  bool training = false;
  bool evaluation = false;  // of the dev data
  bool prediction = false;
};

class FinetuningTask {
 public:
  virtual ~FinetuningTask() = default;
  virtual models::BertHead head() const = 0;
  // Tensors of the start model that begin so are another task's; empty: none.
  virtual std::string fresh_prefix() const { return ""; }
  // Asked for once, however many runs there are.
  virtual std::shared_ptr<const data::Dataset> training_data() = 0;
  // The metric that chooses the weights to keep, more is better. Notes what the dev data score.
  virtual double evaluate(inference::InferenceClient& client, int64_t step) = 0;
  // Scores and predicts, as the phases say, into a folder.
  virtual Scores finish(inference::InferenceClient& client,
                        const std::filesystem::path& folder) = 0;
};

// Notes how many tokens of a file's texts the model has no row for; nothing where it has all rows.
void note_rowless(const text::Tokenizer& tokenizer, const std::string& file,
                  const std::vector<std::string_view>& texts, const TaskOutput& output);

}  // namespace cloze::tasks
