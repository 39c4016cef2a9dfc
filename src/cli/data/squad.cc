#include "cli/data/squad.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>

#include "base/error.h"
#include "cli/tokenizer_options.h"
#include "platform/available_threads.h"
#include "tasks/squad/squad_features.h"
#include "tasks/squad/squad_records.h"

namespace cloze::cli {
namespace {

struct Options {
  std::string input_file;
  std::string output_file;
  std::string style = "google";
  TokenizerFlags tokenizer;
  tasks::SquadFeatureOptions features{.threads = platform::available_threads()};
};

void print_counts(const tasks::SquadData& data, const tasks::SquadFeatures& features) {
  int64_t tokens = 0;
  for (const tasks::SquadWindow& window : features.windows) {
    tokens += features.context_position(window.question) + window.end - window.begin + 1;
  }
  const size_t windows = features.windows.size();
  const auto questions = static_cast<int64_t>(data.questions.size());
  fmt::print("contexts {}\nquestions {}\nfeatures {}\ntokens {} ({:.1f} a feature)\n",
             data.contexts.size(), questions, windows, tokens,
             static_cast<double>(tokens) / static_cast<double>(std::max<size_t>(1, windows)));
}

void print_labels(const tasks::SquadData& data, const tasks::SquadFeatures& features) {
  const auto with_answer =
      std::count_if(features.windows.begin(), features.windows.end(),
                    [](const tasks::SquadWindow& window) { return window.end_position > 0; });
  fmt::print("features with the answer {}\nanswers not where the file says {}\n", with_answer,
             features.misplaced.size());
  for (const size_t question : features.misplaced) {
    fmt::print(stderr, "{}: the answer is not where the file says{}\n", data.questions[question].id,
               features.style == tasks::SquadStyle::kGoogle ? "; left out" : "");
  }
}

void run(Options options) {
  options.features.style = tasks::squad_style_from(options.style);
  if (options.features.threads < 1) {
    throw_user_error("--threads {} must be positive", options.features.threads);
  }
  const text::Tokenizer tokenizer = make_tokenizer(options.tokenizer, options.style);
  const tasks::SquadData data = tasks::read_squad(options.input_file);
  const auto start = std::chrono::steady_clock::now();
  const tasks::SquadFeatures features =
      tasks::make_squad_features(data, tokenizer, options.features);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  print_counts(data, features);
  if (options.features.with_labels) print_labels(data, features);
  fmt::print("made in {:.2f} s\n", elapsed.count());
  if (!options.output_file.empty()) {
    tasks::write_squad_records(options.output_file, data, features,
                               options.features.max_sequence_length);
  }
}

}  // namespace

void add_data_squad(Subcommand parent) {
  Subcommand command = parent.add_subcommand(
      "squad", "Cut the questions and contexts of a SQuAD file into features");
  const auto options = std::make_shared<Options>();
  tasks::SquadFeatureOptions& features = options->features;
  command.add_option("--input-file", options->input_file, "SQuAD file, 1.1 or 2.0").required();
  command.add_option("--output-file", options->output_file,
                     "TFRecord file to write: Google's and Graphcore's cache");
  command
      .add_option("--style", options->style,
                  "Windows and labels as in run_squad.py (google) or in transformers' run_qa.py "
                  "(hf); the tokenizer follows")
      .shows_default();
  add_tokenizer_options(command, options->tokenizer);
  command.add_option("--max-seq-length", features.max_sequence_length, "Tokens of a sequence")
      .shows_default();
  command
      .add_option("--doc-stride", features.document_stride,
                  "google: tokens between the begins of windows; hf: tokens that they share")
      .shows_default();
  command
      .add_option("--max-query-length", features.max_query_length,
                  "google: longer questions are cut")
      .shows_default();
  command.add_flag("--labels", features.with_labels, "Say where the answers are, for training");
  command.add_option("--threads", features.threads, "Threads; the output does not depend on it")
      .shows_default();
  command.set_action([options] { run(*options); });
}

}  // namespace cloze::cli
