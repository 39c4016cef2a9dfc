#include "cli/data/vocabulary.h"

#include <fmt/core.h>

#include <memory>
#include <string>

#include "cli/tokenizer_options.h"
#include "platform/file.h"
#include "platform/available_threads.h"
#include "text/vocabulary_trainer.h"

namespace cloze::cli {
namespace {

struct DataVocabularyOptions {
  TextInputFlags input;
  std::string output_file;
  std::string profile = "hf";
  bool cased = false;
  text::VocabularyTrainerOptions trainer;
};

void add_text(const TextInputFlags& input, text::VocabularyTrainer& trainer) {
  data::CreationProgress progress;
  const data::TextSourceOptions options = input.source_options(platform::available_threads());
  for (const auto& path : input.paths()) {
    const data::TextSource source(path, options, progress);
    try {
      data::visit_sentences(
          source.text(), options.format,
          {.sentence = [&](std::string_view sentence) { trainer.add_text(sentence); },
           .document_end = [] {}});
    } catch (const data::BadText& bad) {
      bad.rethrow_if_in(source.text(), path);
      throw;
    }
  }
}

void run(DataVocabularyOptions options) {
  options.trainer.tokenizer = {.profile = text::profile_from_name(options.profile),
                               .lower_case = !options.cased};
  text::VocabularyTrainer trainer(options.trainer);
  add_text(options.input, trainer);
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
  add_text_input(command, options->input);
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
