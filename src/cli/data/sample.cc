#include "cli/data/sample.h"

#include <fmt/core.h>

#include <memory>

#include "data/sample_corpus.h"

namespace cloze::cli {
namespace {

constexpr double kDefaultMegabytes = 10;

void run(data::SampleCorpusOptions options) {
  if (!options.num_documents && !options.megabytes) options.megabytes = kDefaultMegabytes;
  const data::SampleCorpusSize size = data::write_sample_corpus(options);
  const std::string directory = options.directory.string();
  fmt::print("{}/corpus.txt: {} documents, {} sentences, {:.1f} MB\n", directory,
             size.num_documents, size.num_sentences, static_cast<double>(size.num_bytes) / 1e6);
  fmt::print("{}/cloze.jsonl: {} held-out sentences\n", directory, size.num_cloze_items);
}

}  // namespace

void add_data_sample(Subcommand parent) {
  Subcommand command =
      parent.add_subcommand("sample", "Write documents about an invented world, and cloze items");
  auto options = std::make_shared<data::SampleCorpusOptions>();
  command.add_option("--output-dir", options->directory, "Folder for corpus.txt and cloze.jsonl")
      .required();
  OptionHandle documents =
      command.add_option("--documents", options->num_documents, "Number of documents");
  command.add_option("--megabytes", options->megabytes, "Size of corpus.txt in 10^6 bytes (10)")
      .excludes(documents);
  command.add_option("--seed", options->seed, "The world: another seed, other facts")
      .shows_default();
  command
      .add_option("--held-out-sentences", options->num_cloze_items,
                  "Number of cloze items; none of their sentences is in corpus.txt")
      .shows_default();
  command.set_action([options] { run(*options); });
}

}  // namespace cloze::cli
