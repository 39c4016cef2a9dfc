#include "cli/data/records.h"

#include <fmt/core.h>

#include <chrono>
#include <memory>
#include <string>

#include "base/error.h"
#include "cli/data/wikipedia.h"
#include "cli/record_options.h"
#include "cli/tokenizer_options.h"
#include "cli/work_display.h"
#include "data/creation/create_records.h"
#include "platform/available_threads.h"
#include "platform/file.h"
#include "platform/signals.h"

namespace cloze::cli {
namespace {

struct Options {
  TextInputFlags input;
  std::string output_files;
  TokenizerFlags tokenizer;
  int threads = platform::available_threads();
  data::RecordOptions records;
};

// "tokenising 41 % of 104.3 MB, 11.8 MB/s, 5 s left"; then "instances 41 %, 41000 so far, ..."; and
// "writing 41 % of 1000000 records" in Google's mode.
struct CreationLine {
  const data::CreationProgress& progress;
  double tokenising_seconds = 0;

  std::string operator()(double seconds) {
    if (progress.total_text_bytes == 0 && progress.dumps.total_bytes > 0) {
      return describe_dumps(progress.dumps, seconds);
    }
    if (progress.total_passes == 0) {
      tokenising_seconds = seconds;
      return "tokenising " + describe_bytes(static_cast<double>(progress.text_bytes),
                                            static_cast<double>(progress.total_text_bytes), seconds,
                                            static_cast<double>(progress.text_bytes_before));
    }
    const auto instances = static_cast<double>(progress.instances);
    if (progress.passes == progress.total_passes) {
      return fmt::format("writing {:.0f} % of {:.0f} records",
                         100 * static_cast<double>(progress.written) / instances, instances);
    }
    const double creating_seconds = seconds - tokenising_seconds;
    const auto passes = static_cast<double>(progress.passes);
    const auto total_passes = static_cast<double>(progress.total_passes);
    const double new_instances = instances - static_cast<double>(progress.instances_before);
    return fmt::format("instances {:.0f} %, {:.0f} so far, {:.0f} a second, {:.0f} s left",
                       100 * passes / total_passes, instances, new_instances / creating_seconds,
                       seconds_left(passes, total_passes, creating_seconds,
                                    static_cast<double>(progress.passes_before)));
  }
};

void print_counts(const data::RecordCounts& counts, const Options& options, double seconds) {
  fmt::print("documents {}\nsentences {}\ntext tokens {}\nreplaced invalid UTF-8 sequences {}\n",
             counts.documents, counts.sentences, counts.text_tokens, counts.invalid_utf8);
  fmt::print("instances {}\ntokens {}\npredictions {}\n", counts.instances, counts.tokens,
             counts.predictions);
  fmt::print("files {}, {:.1f} s\n", options.records.output_files.size(), seconds);
}

void run(Options options) {
  data::RecordOptions& records = options.records;
  if (options.threads < 1) throw_user_error("--threads {} must be positive", options.threads);
  const data::TextSourceOptions source = options.input.source_options(options.threads);
  records.input.files = options.input.paths();
  records.input.format = source.format;
  records.input.max_invalid_share = source.max_invalid_share;
  records.input.documents_cross_files = records.google_compatible;
  records.input.threads = options.threads;
  records.output_files = split_path_list(options.output_files);
  const text::Tokenizer tokenizer =
      make_tokenizer(options.tokenizer, records.google_compatible ? "google" : "hf");

  platform::install_stop_signals();
  const auto start = std::chrono::steady_clock::now();
  data::CreationProgress progress;
  data::RecordCounts counts;
  {
    const WorkDisplay display(CreationLine{progress});
    counts = data::create_records(records, tokenizer, progress, [](const std::string& notice) {
      fmt::print(stderr, "note: {}\n", notice);
    });
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  print_counts(counts, options, elapsed.count());
  print_pair_notice(
      static_cast<double>(counts.documents_of_one_sentence) / static_cast<double>(counts.documents),
      "the documents are a single sentence, so that their pairs have label 1 only", "");
}

void add_file_options(Subcommand& command, Options& options) {
  add_text_input(command, options.input);
  command.add_option("--output-file", options.output_files, "TFRecord files to write: comma list")
      .required();
  add_tokenizer_options(command, options.tokenizer);
  command.add_option("--threads", options.threads, "Threads; the output does not depend on it")
      .shows_default();
}

void add_creation_options(Subcommand& command, data::RecordOptions& records) {
  data::RecordLayout& layout = records.layout;
  command.add_option("--sequence-length", layout.sequence_length, "Tokens in a record, S")
      .shows_default();
  command.add_option("--mask-tokens", layout.max_predictions, "Predictions in a record, at most M")
      .shows_default();
  command.add_option("--seed", records.seed, "Random seed").shows_default();
  command
      .add_option("--duplication-factor", records.duplication_factor,
                  "Passes over the documents, each with other masks and pairs")
      .shows_default();
  command.add_option("--mlm-prob", records.masking_probability, "Share of tokens to predict")
      .shows_default();
  command
      .add_option("--short-seq-prob", records.short_sequence_probability,
                  "Share of documents cut into shorter sequences")
      .shows_default();
  command.add_option("--max-samples", records.max_samples, "Stop after so many records; -1: all")
      .shows_default();
  command
      .add_option("--pad-position-value", layout.pad_position_value,
                  "With --remask: position of unused slots")
      .shows_default();
  command.add_flag("--remask", layout.remask, "Write the static-mask layout: masked tokens first");
  command.add_flag("--do-whole-word-mask", records.whole_word_masking,
                   "Mask all pieces of a word, or none");
  command.add_flag("--google-compatible", records.google_compatible,
                   "Make exactly the records of Google's create_pretraining_data.py; one thread");
}

}  // namespace

void add_data_records(Subcommand parent) {
  Subcommand command =
      parent.add_subcommand("records", "Make pre-training records (TFRecord) from plain text");
  const auto options = std::make_shared<Options>();
  add_file_options(command, *options);
  add_creation_options(command, options->records);
  command.set_action([options] { run(*options); });
}

}  // namespace cloze::cli
