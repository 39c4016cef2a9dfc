#include <fmt/core.h>

#include <chrono>
#include <string>

#include "base/error.h"
#include "base/seconds.h"
#include "base/time_text.h"
#include "cli/console/say.h"
#include "cli/console/work_display.h"
#include "cli/data/data_options.h"
#include "cli/options/commands.h"
#include "data/creation/create_records.h"
#include "platform/available_threads.h"
#include "platform/files/input_paths.h"
#include "platform/signals.h"

namespace cloze::cli {
namespace {

struct Options {
  std::string input_files;
  TokenizerFlags tokenizer;
  data::RecordOptions records;
  Options() { records.input.threads = platform::available_threads(); }
};

// "tokenising 41 % of 104.3 MB, 11.8 MB/s, 5 s left"; then "instances 41 %, 41000 so far, ..."; and
// "writing 41 % of 1000000 records" in Google's mode.
struct CreationLine {
  const data::CreationProgress& progress;
  double tokenising_seconds = 0;

  std::string operator()(double seconds) {
    if (progress.total_passes == 0) {
      if (progress.total_text_bytes > 0) tokenising_seconds = seconds;
      return describe_tokenising(progress, seconds);
    }
    const int64_t instances = progress.instances;
    const int64_t passes = progress.passes, total_passes = progress.total_passes;
    if (passes == total_passes) {
      return fmt::format("writing {:.0f} % of {} records", percent(progress.written, instances),
                         instances);
    }
    const double creating_seconds = seconds - tokenising_seconds;
    const auto new_instances = static_cast<double>(instances - progress.instances_before);
    return fmt::format("instances {:.0f} %, {} so far, {:.0f} a second, {} left",
                       percent(passes, total_passes), instances, new_instances / creating_seconds,
                       time_left(passes, total_passes, creating_seconds, progress.passes_before));
  }
};

void print_counts(const data::RecordCounts& counts, const Options& options, double seconds) {
  fmt::print("documents {}\nsentences {}\ntext tokens {}\ninvalid UTF-8 sequences left out {}\n",
             counts.documents, counts.sentences, counts.text_tokens, counts.invalid_utf8);
  fmt::print("instances {}\ntokens {}\npredictions {}\n", counts.instances, counts.tokens,
             counts.predictions);
  fmt::print("files {}, {}\n", options.records.output_files.size(), time_text(seconds));
}

void run(Options& options, OptionTable& table) {
  data::RecordOptions& records = options.records;
  check_use(table);
  records.input.files = platform::expand_paths(options.input_files);
  auto inputs = platform::expand_paths_with_folders(options.input_files);
  inputs.emplace_back(options.tokenizer.vocabulary_file);
  platform::require_other_files({.inputs = std::move(inputs), .outputs = records.output_files});
  records.input.documents_cross_files = records.google_compatible;
  // Google's script takes every line for a sentence.
  if (records.google_compatible && !table.is_given("input_format")) {
    records.input.form.format = data::TextFormat::kSentences;
  }
  const text::Tokenizer tokenizer =
      make_tokenizer(options.tokenizer, records.google_compatible ? "google" : "hf");

  records.input.examine = cut_report(tokenizer, options.tokenizer.max_unknown_percent);
  platform::install_stop_signals();
  const auto start = std::chrono::steady_clock::now();
  data::CreationProgress progress;
  progress.notice = [](const std::string& notice) { say("note: {}\n", notice); };
  data::RecordCounts counts;
  {
    const WorkDisplay display(CreationLine{progress});
    counts = data::create_records(records, tokenizer, progress,
                                  [](const std::string& notice) { say("note: {}\n", notice); });
  }
  const double elapsed = seconds_since(start);
  print_counts(counts, options, elapsed);
  print_pair_notice(
      static_cast<double>(counts.documents_of_one_sentence) / static_cast<double>(counts.documents),
      "the documents are a single sentence, so that their pairs have label 1 only", "");
}

void add_options(OptionTable& table, Options& o) {
  data::RecordOptions& records = o.records;
  data::RecordLayout& layout = records.layout;
  add_text_input(table, o.input_files, records.input.form, records.input.max_invalid_percent);
  table.add("output_file", &records.output_files, "TFRecord files to write, separated by commas",
            {.is_required = true});
  add_tokenizer_options(table, o.tokenizer, "hf; google with --google-compatible");
  add_unknown_limit(table, o.tokenizer.max_unknown_percent);
  table.add(threads_option(records.input.threads));
  const OptionRules share{.minimum = 0, .maximum = 1};
  table.add("sequence_length", &layout.sequence_length, "Tokens in a record, S", {.minimum = 1});
  table.add("mask_tokens", &layout.max_predictions, "Predictions in a record, at most M",
            {.minimum = 0});
  table.add("seed", &records.seed, "Random seed");
  table.add("duplication_factor", &records.duplication_factor,
            "Passes over the documents, each with different masks and pairs", {.minimum = 1});
  table.add("mlm_prob", &records.masking_probability, "Share of tokens to predict", share);
  table.add("short_seq_prob", &records.short_sequence_probability,
            "Share of documents cut into shorter sequences", share);
  table.add("max_samples", &records.max_samples, "Stop after N records; -1: all");
  table.add("pad_position_value", &layout.pad_position_value,
            "With --remask: position of unused slots",
            {.idle = [&layout] { return layout.remask ? "" : "without `remask`"; }});
  table.add("remask", &layout.remask, "Write the static-mask layout: masked tokens first");
  table.add("do_whole_word_mask", &records.whole_word_masking,
            "Mask all pieces of a word, or none");
  table.add("google_compatible", &records.google_compatible,
            "Make exactly the records of Google's create_pretraining_data.py; one thread");
}

}  // namespace

void add_data_records(Subcommand data) {
  data.add_command(
      "records",
      {"Make pre-training records (TFRecord) from plain text",
       "cloze data records --input-file 'text/*.txt' --vocab-file vocab.txt --output-file "
       "records.tfrecord"},
      add_options, run);
}

}  // namespace cloze::cli
