#include "cli/data/tokens.h"

#include <fmt/core.h>

#include <chrono>
#include <memory>
#include <string>

#include "base/error.h"
#include "cli/data/wikipedia.h"
#include "cli/tokenizer_options.h"
#include "cli/work_display.h"
#include "data/token_store/build_token_store.h"
#include "platform/available_threads.h"
#include "platform/file.h"

namespace cloze::cli {
namespace {

struct Options {
  TextInputFlags input;
  std::string store;
  bool append = false;
  int threads = platform::available_threads();
  TokenizerFlags tokenizer;
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
  fmt::print("{:.1f} MB of text in {:.1f} MB ({:.2f} of it), {:.1f} s, {:.1f} MB/s\n",
             text / kMegabyte, static_cast<double>(built.bytes) / kMegabyte,
             static_cast<double>(built.bytes) / text, seconds, text / kMegabyte / seconds);
}

void run(const Options& options) {
  if (options.threads < 1) throw_user_error("--threads {} must be positive", options.threads);
  const data::TextSourceOptions source = options.input.source_options(options.threads);
  const data::TokenStoreOptions store{.files = options.input.paths(),
                                      .format = source.format,
                                      .max_invalid_share = source.max_invalid_share,
                                      .folder = options.store,
                                      .append = options.append,
                                      .threads = options.threads};
  const text::Tokenizer tokenizer = make_tokenizer(options.tokenizer, "hf");
  const auto start = std::chrono::steady_clock::now();
  const data::TokenStoreBuilt built = build_with_display(store, tokenizer);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  print_counts(built, elapsed.count());
}

}  // namespace

data::TokenStoreBuilt build_with_display(const data::TokenStoreOptions& options,
                                         const text::Tokenizer& tokenizer) {
  data::CreationProgress progress;
  const WorkDisplay display([&](double seconds) {
    if (progress.total_text_bytes == 0 && progress.dumps.total_bytes > 0) {
      return describe_dumps(progress.dumps, seconds);
    }
    return "tokenising " + describe_bytes(static_cast<double>(progress.text_bytes),
                                          static_cast<double>(progress.total_text_bytes), seconds);
  });
  return data::build_token_store(options, tokenizer, progress);
}

void add_data_tokens(Subcommand parent) {
  Subcommand command =
      parent.add_subcommand("tokens", "Tokenise text into a store to pre-train from");
  const auto options = std::make_shared<Options>();
  add_text_input(command, options->input);
  command.add_option("--output-dir", options->store, "Folder of the store").required();
  add_tokenizer_options(command, options->tokenizer);
  command.add_flag("--append", options->append, "Keep what the store has; add the text at its end");
  command.add_option("--threads", options->threads, "Threads; the output does not depend on it")
      .shows_default();
  command.set_action([options] { run(*options); });
}

}  // namespace cloze::cli
