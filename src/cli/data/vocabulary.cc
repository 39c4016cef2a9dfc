#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "checkpoints/hugging_face_tokenizer.h"
#include "checkpoints/stored_tokenizer.h"
#include "cli/console/say.h"
#include "cli/console/work_display.h"
#include "cli/data/data_options.h"
#include "cli/options/commands.h"
#include "data/corpus/text_source.h"
#include "platform/available_threads.h"
#include "platform/files/atomic_file.h"
#include "platform/files/input_paths.h"
#include "platform/parallel_for.h"
#include "text/vocabulary_trainer.h"

namespace cloze::cli {
namespace {

struct Options {
  std::string input_files;
  data::TextSourceOptions source{.threads = platform::available_threads()};
  std::string output_file;
  bool cased = false;
  text::StatedRules rules;  // lower_case is decided by cased
  text::VocabularyTrainerOptions trainer;
};

// The rules are written beside the tokens, so that every command cuts text as was done here.
void write_files(const std::filesystem::path& file, const text::Vocabulary& vocabulary,
                 const text::TokenizerOptions& rules) {
  platform::write_file_atomically(file, vocabulary.to_text());
  const std::filesystem::path rules_file = checkpoints::rules_file_of(file);
  platform::write_file_atomically(
      rules_file, checkpoints::tokenizer_config_text({.vocabulary = vocabulary, .options = rules}));
  fmt::print("{}: its rules: do_lower_case {}, strip_accents {}, tokenize_chinese_chars {}\n",
             rules_file.string(), rules.lower_case, rules.strips_accents(),
             rules.tokenize_chinese_chars);
}

// A file of rules without the vocabulary that it would belong to is something else's.
void require_own_rules(const std::filesystem::path& file) {
  const std::filesystem::path rules_file = checkpoints::rules_file_of(file);
  if (std::filesystem::exists(file) || !std::filesystem::exists(rules_file)) return;
  throw_user_error(
      "{} is there, but no {}: it may belong to something else, and would be overwritten; choose "
      "another folder, or another name than {}",
      rules_file.string(), file.string(), file.filename().string());
}

struct Block {
  std::string_view text;
  const data::TextSource* source;
};

void add_block(const Block& block, text::VocabularyTrainer& trainer) {
  try {
    data::visit_paragraphs(
        block.text, block.source->form(),
        {.paragraph = [&](std::string_view paragraph) { trainer.add_text(paragraph); }});
  } catch (const data::BadText& bad) {
    bad.rethrow_if_in(block.source->text(), block.source->path());
    throw;
  }
}

// Counts the words of all files, on several threads. Returns a sample of the text.
data::TextSample add_text(const std::vector<std::filesystem::path>& files, const Options& options,
                          text::VocabularyTrainer& trainer) {
  constexpr size_t kBlockBytes = 1 << 20;
  data::CreationProgress progress;
  progress.notice = [](const std::string& notice) { say("note: {}\n", notice); };
  const WorkDisplay display([&](double seconds) { return describe_tokenising(progress, seconds); });
  const auto sources = data::open_text_sources(files, options.source, progress);
  std::vector<Block> blocks;
  for (const data::TextSource& source : sources) {
    for (const auto text : data::split_into_blocks(source.text(), kBlockBytes, source.format())) {
      blocks.push_back({text, &source});
      progress.total_text_bytes += std::ssize(text);
    }
  }
  std::mutex mutex;
  platform::parallel_for(std::ssize(blocks), options.source.threads, [&](int64_t i) {
    const Block& block = blocks[static_cast<size_t>(i)];
    text::VocabularyTrainer part(options.trainer);
    add_block(block, part);
    const std::lock_guard lock(mutex);
    trainer.add_counts(part);
    progress.text_bytes += std::ssize(block.text);
  });
  return data::sample_of(sources);
}

text::TrainedVocabulary train(const text::VocabularyTrainer& trainer, int64_t size) {
  std::atomic<int64_t> tokens = 0;
  const WorkDisplay display(
      [&](double) { return fmt::format("merged into {} of {} tokens", tokens.load(), size); });
  return trainer.train([&](int64_t so_far) { tokens = so_far; });
}

// Prints which share of the text the vocabulary cannot spell, and why.
void print_unknown(const text::TrainedVocabulary& trained, const text::VocabularyTrainer& trainer) {
  constexpr size_t kShown = 10;
  const int64_t words = trainer.num_words() + trainer.num_overlong();
  fmt::print("[UNK]: {:.3f} % of the words, for {} characters left out and {} words too long\n",
             percent(trained.unknown_words + trainer.num_overlong(), words),
             trained.left_out.size(), trainer.num_overlong());
  if (trained.left_out.empty()) return;
  const std::span<const text::CountedText> left_out = trained.left_out;
  fmt::print("left out, most often: {}; --character-coverage 1 keeps all\n",
             listed(left_out.first(std::min(kShown, left_out.size()))));
}

void run(Options& options) {
  const auto files = platform::expand_paths(options.input_files);
  platform::require_other_files(
      {.inputs = platform::expand_paths_with_folders(options.input_files),
       .outputs = {options.output_file, checkpoints::rules_file_of(options.output_file)}});
  require_own_rules(options.output_file);
  options.rules.lower_case = !options.cased;
  options.trainer.tokenizer = options.rules.over(options.trainer.tokenizer);
  text::VocabularyTrainer trainer(options.trainer);
  const data::TextSample sample = add_text(files, options, trainer);
  if (trainer.num_invalid() > 0) {
    say("{} invalid UTF-8 sequences were left out\n", trainer.num_invalid());
  }
  const text::TrainedVocabulary trained = train(trainer, options.trainer.size);
  const text::Vocabulary& vocabulary = trained.vocabulary;
  fmt::print("{}: {} tokens from {} words, {} of them distinct\n", options.output_file,
             vocabulary.size(), trainer.num_words(), trainer.num_distinct_words());
  write_files(options.output_file, vocabulary, options.trainer.tokenizer);
  print_unknown(trained, trainer);
  report_stripped(sample, text::Tokenizer(vocabulary, options.trainer.tokenizer));
  if (vocabulary.size() < options.trainer.size) {
    fmt::print("fewer than the {} asked for: no other pair of pieces occurs {} times\n",
               options.trainer.size, options.trainer.min_frequency);
  }
}

void add_options(OptionTable& table, Options& o) {
  add_text_input(table, o.input_files, o.source.form, o.source.max_invalid_percent);
  table.add(
      "output_file", &o.output_file,
      "The vocab.txt to write; its rules go beside it, into tokenizer_config.json (for another "
      "NAME.txt: NAME.tokenizer_config.json)",
      {.is_required = true});
  table.add("size", &o.trainer.size, "Number of tokens, specials included");
  table.add("cased", &o.cased, "Keep capitals and accents");
  table.add("strip_accents", &o.rules.strip_accents,
            "Strip accents and vowel signs (unless --cased)");
  table.add("tokenize_chinese_chars", &o.rules.tokenize_chinese_chars,
            "Make every ideograph a word (true)");
  table.add(profile_option(o.trainer.tokenizer.profile));
  table.add("min_frequency", &o.trainer.min_frequency,
            "How often a pair of pieces must occur to become one");
  table.add("character_coverage", &o.trainer.character_coverage,
            "Share of the text's characters that the alphabet covers; words with others become "
            "[UNK]",
            {.minimum = 0, .maximum = 1});
  table.add(threads_option(o.source.threads));
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
