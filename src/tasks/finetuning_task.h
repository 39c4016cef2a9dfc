// A task that a model is fine-tuned on: the head it needs, its samples, and the scores of a model
// on them. The training command calls these functions; messages go to a TaskOutput.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/dataset.h"
#include "formats/json.h"
#include "inference/inference_client.h"
#include "models/bert_heads.h"
#include "models/vector_loss.h"
#include "text/tokenizer.h"

namespace cloze::tasks {

// The scores of the runs of several seeds: each, their mean, their standard deviation (n - 1), and
// the best.
using Scores = std::map<std::string, double>;  // "MRPC accuracy" → percent

// The scores of some examples as shares of 1, by the names that are printed: the first chooses the
// weights to keep. And all that eval_results.json has of them.
struct NamedScores {
  std::vector<std::pair<std::string, double>> printed;
  formats::Json all;
  std::vector<std::string> lines;  // to print below the scores at the end of a run

  std::string text() const;  // "accuracy 0.9123, macro F1 0.8917"
  Scores percentages() const;
};

struct SeedScores {
  int64_t seed = 0;
  Scores scores;  // the same names for every seed
};

// A line for each score: "RTE accuracy 84.31 +- 0.52 (3 runs: 84.10, 84.90, 83.93)", or of one run
// "RTE accuracy 84.31".
std::vector<std::string> describe_runs(const std::vector<SeedScores>& runs);

// {"runs": [{"seed": 1, "scores": {...}}, ...], "summary": {"RTE accuracy": {"mean", "deviation",
// "best", "best_seed"}}}; the first of equal ones is the best. Both are null where no score is a
// number.
formats::Json seed_summary_json(const std::vector<SeedScores>& runs);

struct TaskOutput {
  // Looks at the texts of a file before they are cut, and may refuse them (UserError).
  std::function<void(const std::string& file, const std::vector<std::string_view>& texts)> examine;
  std::function<void(const std::string&)> notice;  // a line on what was read, scored or written
  std::function<void(const std::string&)> result;  // a line with the scores
  // Watches a client while it runs so many sequences, until the returned object is destroyed.
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
  // Tensors of the start model whose names begin so belong to another task; empty: none.
  virtual std::string fresh_prefix() const { return ""; }
  // Values, by name, of parameters that the start model gives none; others begin as the model says.
  virtual std::map<std::string, std::vector<float>> fresh_values() const { return {}; }
  // Asked for once, however many runs there are.
  virtual std::shared_ptr<const data::Dataset> training_data() = 0;
  // The most sequences that a sample of it has.
  virtual int64_t sequences_per_sample() const { return 1; }
  // The loss of a step of that data, where the head makes vectors (models/vector_loss.h).
  virtual models::VectorLoss vector_loss() const { return {}; }
  // The metric that chooses the weights to keep, more is better. Notes the scores on the dev data.
  virtual double evaluate(inference::InferenceClient& client, int64_t step) = 0;
  // A name for what evaluate() scores, and how: other data and other options have another.
  virtual std::string evaluated_on() const = 0;
  // Scores and predicts, as the phases say, into a folder.
  virtual Scores finish(inference::InferenceClient& client,
                        const std::filesystem::path& folder) = 0;
  // The parts of report.html on the last finish(), in HTML (formats/html_page.h, with kPlotStyle).
  // Empty: such a page is not written.
  virtual std::string report() const { return ""; }
};

// Writes example.json: an input that the model answered right, and the answer, for the page of a
// server of this model (serve/page_example.h).
void write_page_example(const std::filesystem::path& folder, const formats::Json& input,
                        const std::string& answer);

// Notes how many tokens of a file's texts the model has no row for; nothing where it has all rows.
void note_rowless(const text::Tokenizer& tokenizer, const std::string& file,
                  const std::vector<std::string_view>& texts, const TaskOutput& output);

}  // namespace cloze::tasks
