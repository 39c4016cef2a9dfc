#include "cli/data/sample.h"

#include <fmt/core.h>

#include <memory>

#include "data/sample_corpus.h"
#include "data/sample_squad.h"

namespace cloze::cli {
namespace {

constexpr double kDefaultMegabytes = 10;

struct Options {
  data::SampleCorpusOptions corpus;
  data::SampleSquadOptions squad;
};

void write_corpus(const data::SampleCorpusOptions& options) {
  const data::SampleCorpusSize size = data::write_sample_corpus(options);
  const std::string directory = options.directory.string();
  fmt::print("{}/corpus.txt: {} documents, {} sentences, {:.1f} MB\n", directory,
             size.num_documents, size.num_sentences, static_cast<double>(size.num_bytes) / 1e6);
  fmt::print("{}/cloze.jsonl: {} held-out sentences\n", directory, size.num_cloze_items);
}

void write_squad(const data::SampleSquadOptions& options) {
  data::write_sample_squad(options);
  const std::string directory = options.directory.string();
  fmt::print("{}/squad-train.json: {} questions\n", directory, options.num_train_questions);
  fmt::print("{}/squad-dev.json: {} questions\n", directory, options.num_dev_questions);
}

void run(Options options) {
  options.squad.directory = options.corpus.directory;
  options.squad.seed = options.corpus.seed;
  if (!options.corpus.num_documents && !options.corpus.megabytes) {
    options.corpus.megabytes = kDefaultMegabytes;
  }
  data::validate(options.corpus);
  data::validate(options.squad);
  write_corpus(options.corpus);
  write_squad(options.squad);
}

}  // namespace

void add_data_sample(Subcommand parent) {
  Subcommand command = parent.add_subcommand(
      "sample", "Write an invented world: documents, cloze items, questions on paragraphs");
  auto options = std::make_shared<Options>();
  command
      .add_option("--output-dir", options->corpus.directory,
                  "Folder for corpus.txt, cloze.jsonl, squad-train.json and squad-dev.json")
      .required();
  OptionHandle documents =
      command.add_option("--documents", options->corpus.num_documents, "Number of documents");
  command
      .add_option("--megabytes", options->corpus.megabytes, "Size of corpus.txt in 10^6 bytes (10)")
      .excludes(documents);
  command.add_option("--seed", options->corpus.seed, "The world: another seed, other facts")
      .shows_default();
  command
      .add_option("--held-out-sentences", options->corpus.num_cloze_items,
                  "Number of cloze items; none of their sentences is in corpus.txt")
      .shows_default();
  command
      .add_option("--train-questions", options->squad.num_train_questions,
                  "Number of questions in squad-train.json")
      .shows_default();
  command
      .add_option("--dev-questions", options->squad.num_dev_questions,
                  "Number of questions in squad-dev.json; their paragraphs are its own")
      .shows_default();
  command
      .add_option("--subjects", options->squad.num_subjects,
                  "Villages, ships or people that a paragraph with questions tells of, 1 to 3; the "
                  "more, the harder")
      .shows_default();
  command.set_action([options] { run(*options); });
}

}  // namespace cloze::cli
