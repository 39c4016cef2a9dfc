#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "base/seconds.h"
#include "cli/console/say.h"
#include "cli/data/data_options.h"
#include "cli/options/commands.h"
#include "platform/available_threads.h"
#include "platform/files/input_paths.h"
#include "tasks/squad/squad_features.h"
#include "tasks/squad/squad_records.h"

namespace cloze::cli {
namespace {

struct Options {
  std::string input_file;
  std::string output_file;
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
    say("{}: the answer is not where the file says{}\n", data.questions[question].id,
        features.style == tasks::SquadStyle::kGoogle ? "; left out" : "");
  }
}

void run(Options& options) {
  platform::require_other_files({.inputs = {options.input_file, options.tokenizer.vocabulary_file},
                                 .outputs = {options.output_file}});
  const bool is_google = options.features.style == tasks::SquadStyle::kGoogle;
  const text::Tokenizer tokenizer = make_tokenizer(options.tokenizer, is_google ? "google" : "hf");
  const tasks::SquadData data = tasks::read_squad(options.input_file);
  report_cut(sample_of(data.texts()), tokenizer,
             {.max_unknown_percent = options.tokenizer.max_unknown_percent});
  const auto start = std::chrono::steady_clock::now();
  const tasks::SquadFeatures features =
      tasks::make_squad_features(data, tokenizer, options.features);
  const double elapsed = seconds_since(start);
  print_counts(data, features);
  if (options.features.with_labels) print_labels(data, features);
  fmt::print("made in {:.2f} s\n", elapsed);
  if (!options.output_file.empty()) {
    tasks::write_squad_records(options.output_file, data, features,
                               options.features.max_sequence_length);
  }
}

void add_options(OptionTable& table, Options& o) {
  tasks::SquadFeatureOptions& features = o.features;
  const std::vector<std::string> styles{"google", "hf"};
  table.add("input_file", &o.input_file, "SQuAD file, 1.1 or 2.0", {.is_required = true});
  table.add("output_file", &o.output_file,
            "TFRecord file to write: Google's and Graphcore's cache");
  table.add("style", enumerated(features.style, styles),
            "Windows and labels as in run_squad.py (google) or in transformers' run_qa.py (hf); "
            "the tokenizer follows",
            {.choices = styles});
  add_tokenizer_options(table, o.tokenizer, "as style");
  add_unknown_limit(table, o.tokenizer.max_unknown_percent);
  table.add("max_seq_length", &features.max_sequence_length, "Tokens per sequence", {.minimum = 1});
  table.add("doc_stride", &features.document_stride,
            "google: tokens between the starts of windows; hf: tokens that they share");
  table.add("max_query_length", &features.max_query_length, "google: longer questions are cut",
            {.idle = [&style = features.style] {
              return style == tasks::SquadStyle::kGoogle ? "" : "with `style` hf";
            }});
  table.add("labels", &features.with_labels, "Say where the answers are, for training");
  table.add(threads_option(features.threads));
}

}  // namespace

void add_data_squad(Subcommand data) {
  data.add_command(
      "squad",
      {"Cut the questions and contexts of a SQuAD file into features",
       "cloze data squad --input-file train-v1.1.json --vocab-file vocab.txt --output-file "
       "train.tfrecord"},
      add_options, run);
}

}  // namespace cloze::cli
