#include <fmt/core.h>

#include <chrono>
#include <string>

#include "base/seconds.h"
#include "base/time_text.h"
#include "cli/data/data_options.h"
#include "cli/options/commands.h"
#include "platform/available_threads.h"
#include "platform/files/input_paths.h"

namespace cloze::cli {
namespace {

struct Options {
  std::string input_files;
  TokenizerFlags tokenizer;
  data::TokenStoreOptions store{.threads = platform::available_threads()};
};

void print_counts(const data::TokenStoreBuilt& built, double seconds) {
  constexpr double kMegabyte = 1e6;
  const data::TokenStoreManifest& manifest = built.manifest;
  const double text = static_cast<double>(manifest.text_bytes);
  fmt::print("documents {}\nsentences {} ({:.1f} a document)\ntokens {}\n", manifest.documents,
             manifest.sentences,
             static_cast<double>(manifest.sentences) / static_cast<double>(manifest.documents),
             manifest.tokens);
  fmt::print("invalid UTF-8 sequences left out {}\n", manifest.invalid_utf8);
  fmt::print(
      "shards {}: {} written, {} kept, {} removed\n", manifest.shards.size(), built.shards_written,
      static_cast<int64_t>(manifest.shards.size()) - built.shards_written, built.shards_removed);
  fmt::print("{:.1f} MB of text in {:.1f} MB ({:.2f} of it), {}, {:.1f} MB/s\n", text / kMegabyte,
             static_cast<double>(built.bytes) / kMegabyte, static_cast<double>(built.bytes) / text,
             time_text(seconds), text / kMegabyte / seconds);
}

void run(Options& options) {
  options.store.files = platform::expand_paths(options.input_files);
  platform::require_other_files({.inputs = platform::expand_paths_with_folders(options.input_files),
                                 .outputs = {options.store.folder / data::kStoreName}});
  const text::Tokenizer tokenizer = make_tokenizer(options.tokenizer, "hf");
  const auto start = std::chrono::steady_clock::now();
  const data::TokenStoreBuilt built =
      build_with_display(options.store, tokenizer, options.tokenizer.max_unknown_percent);
  const double elapsed = seconds_since(start);
  print_counts(built, elapsed);
}

void add_options(OptionTable& table, Options& o) {
  add_text_input(table, o.input_files, o.store.form, o.store.max_invalid_percent);
  table.add("output_dir", &o.store.folder, "Folder of the store", {.is_required = true});
  add_tokenizer_options(table, o.tokenizer, "hf");
  add_unknown_limit(table, o.tokenizer.max_unknown_percent);
  table.add("append", &o.store.append, "Keep what the store has; add the text at its end");
  table.add(threads_option(o.store.threads));
}

}  // namespace

void add_data_tokens(Subcommand data) {
  data.add_command(
      "tokens",
      {"Tokenise text into a store to pre-train from",
       "cloze data tokens --input-file 'text/*.txt' --vocab-file vocab.txt --output-dir store"},
      add_options, run);
}

}  // namespace cloze::cli
