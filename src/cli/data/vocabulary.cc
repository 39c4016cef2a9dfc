#include <fmt/core.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/data/data_options.h"
#include "cli/say.h"
#include "data/corpus/text_source.h"
#include "platform/available_threads.h"
#include "platform/files/atomic_file.h"
#include "platform/files/input_paths.h"
#include "text/vocabulary_trainer.h"

namespace cloze::cli {
namespace {

struct Options {
  std::string input_files;
  data::TextSourceOptions source{.threads = platform::available_threads()};
  std::string output_file;
  bool cased = false;
  text::VocabularyTrainerOptions trainer;
};

void add_text(const std::vector<std::filesystem::path>& files, const Options& options,
              text::VocabularyTrainer& trainer) {
  data::CreationProgress progress;
  for (const auto& path : files) {
    const data::TextSource source(path, options.source, progress);
    try {
      data::visit_paragraphs(
          source.text(), options.source.format,
          {.paragraph = [&](std::string_view paragraph) { trainer.add_text(paragraph); },
           .document_end = [] {}});
    } catch (const data::BadText& bad) {
      bad.rethrow_if_in(source.text(), path);
      throw;
    }
  }
}

void run(Options& options) {
  const auto files = platform::expand_paths(options.input_files);
  platform::require_other_files({.inputs = platform::expand_paths_with_folders(options.input_files),
                                 .outputs = {options.output_file}});
  options.trainer.tokenizer.lower_case = !options.cased;
  text::VocabularyTrainer trainer(options.trainer);
  add_text(files, options, trainer);
  if (trainer.num_invalid() > 0) {
    say("{} invalid UTF-8 sequences were left out\n", trainer.num_invalid());
  }
  const text::Vocabulary vocabulary = trainer.train();
  platform::write_file_atomically(options.output_file, vocabulary.to_text());
  fmt::print("{}: {} tokens from {} words, {} of them distinct\n", options.output_file,
             vocabulary.size(), trainer.num_words(), trainer.num_distinct_words());
  if (vocabulary.size() < options.trainer.size) {
    fmt::print("fewer than the {} asked for: no other pair of pieces occurs {} times\n",
               options.trainer.size, options.trainer.min_frequency);
  }
}

void add_options(OptionTable& table, Options& o) {
  add_text_input(table, o.input_files, o.source.format, o.source.max_invalid_percent);
  table.add("output_file", &o.output_file, "The vocab.txt to write", {.is_required = true});
  table.add("size", &o.trainer.size, "Number of tokens, specials included");
  table.add("cased", &o.cased, "Keep capitals and accents");
  table.add(profile_option(o.trainer.tokenizer.profile));
  table.add("min_frequency", &o.trainer.min_frequency,
            "How often a pair of pieces must occur to become one");
  table.add("limit_alphabet", &o.trainer.limit_alphabet,
            "Maximum number of characters; the most frequent ones are kept");
}

}  // namespace

void add_data_vocabulary(Subcommand data) {
  data.add_command(
      "vocabulary",
      {"Train a WordPiece vocabulary from text files",
       "cloze data vocabulary --input-file 'text/*.txt' --output-file vocab.txt --size 8192"},
      add_options, run);
}

}  // namespace cloze::cli
