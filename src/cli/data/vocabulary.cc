#include "cli/data/vocabulary.h"

#include <fmt/core.h>

#include <memory>
#include <string>

#include "platform/file.h"
#include "text/vocabulary_trainer.h"

namespace cloze::cli {
namespace {

struct DataVocabularyOptions {
  std::string input_file;
  std::string output_file;
  std::string profile = "hf";
  bool cased = false;
  text::VocabularyTrainerOptions trainer;
};

void run(DataVocabularyOptions options) {
  options.trainer.tokenizer = {.profile = text::profile_from_name(options.profile),
                               .lower_case = !options.cased};
  text::VocabularyTrainer trainer(options.trainer);
  for (const auto& path : platform::expand_paths(options.input_file)) trainer.add_file(path);
  if (trainer.num_invalid() > 0) {
    fmt::print(stderr, "{} invalid UTF-8 sequences were left out\n", trainer.num_invalid());
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

}  // namespace

void add_data_vocabulary(Subcommand parent) {
  const auto options = std::make_shared<DataVocabularyOptions>();
  Subcommand command =
      parent.add_subcommand("vocabulary", "Train a WordPiece vocabulary from text files");
  command
      .add_option("--input-file", options->input_file,
                  "Text files: comma list of paths, folders and patterns")
      .required();
  command.add_option("--output-file", options->output_file, "The vocab.txt to write").required();
  command.add_option("--size", options->trainer.size, "Number of tokens, specials included")
      .shows_default();
  command.add_flag("--cased", options->cased, "Keep capitals and accents");
  command
      .add_option("--profile", options->profile,
                  "Rules: hf (the tokenizers package) or google (BERT's tokenization.py)")
      .shows_default();
  command
      .add_option("--min-frequency", options->trainer.min_frequency,
                  "How often a pair of pieces must occur to become one")
      .shows_default();
  command
      .add_option("--limit-alphabet", options->trainer.limit_alphabet,
                  "Number of characters at most, the most frequent ones")
      .shows_default();
  command.set_action([options] { run(*options); });
}

}  // namespace cloze::cli
