#include <fmt/core.h>

#include "cli/commands.h"
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
  fmt::print("{}/cloze.jsonl: {} held-out sentences\n", directory, options.num_cloze_items);
}

void write_squad(const data::SampleSquadOptions& options) {
  data::write_sample_squad(options);
  const std::string directory = options.directory.string();
  fmt::print("{}/squad-train.json: {} questions\n", directory, options.num_train_questions);
  fmt::print("{}/squad-dev.json: {} questions\n", directory, options.num_dev_questions);
}

void run(Options& options) {
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

void add_options(OptionTable& table, Options& o) {
  table.add("output_dir", &o.corpus.directory,
            "Folder for corpus.txt, cloze.jsonl, squad-train.json and squad-dev.json",
            {.is_required = true});
  table.add("documents", &o.corpus.num_documents, "Number of documents");
  table.add("megabytes", &o.corpus.megabytes, "Size of corpus.txt in 10^6 bytes (10)",
            {.excludes = {"documents"}});
  table.add("seed", &o.corpus.seed, "Seed of the world: another seed gives other facts");
  table.add("held_out_sentences", &o.corpus.num_cloze_items,
            "Number of cloze items; none of their sentences is in corpus.txt");
  table.add("train_questions", &o.squad.num_train_questions,
            "Number of questions in squad-train.json");
  table.add("dev_questions", &o.squad.num_dev_questions,
            "Number of questions in squad-dev.json; their paragraphs are its own");
  table.add("subjects", &o.squad.num_subjects,
            "Villages, ships or people that a paragraph with questions is about, 1 to 3; the more, "
            "the harder");
}

}  // namespace

void add_data_sample(Subcommand data) {
  data.add_command("sample",
                   {"Write an invented world: documents, cloze items, questions on paragraphs",
                    "cloze data sample --output-dir world --megabytes 1"},
                   add_options, run);
}

}  // namespace cloze::cli
