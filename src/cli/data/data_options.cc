#include "cli/data/data_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/error.h"
#include "checkpoints/stored_tokenizer.h"
#include "cli/console/say.h"
#include "cli/console/work_display.h"
#include "platform/available_threads.h"

namespace cloze::cli {
void add_text_form(OptionTable& table, data::TextForm& form, double& max_invalid_percent) {
  form.format = data::TextFormat::kAuto;
  table.add(
      "input_format", named(form.format, data::text_format_from, data::text_format_name),
      "Format of input_file: one sentence or paragraph per line, with a blank line between "
      "documents; wrapped lines, with a blank line between paragraphs; one object with a "
      "\"text\" per line (JSON Lines); WikiExtractor's output; a MediaWiki dump; or, for each "
      "file, whichever of these it shows",
      {.choices = data::text_format_names()});
  table.add("json_key", &form.json_key,
            "With JSON Lines: the member of each object that holds its text");
  table.add("skip_bad_lines", &form.skip_bad_lines,
            "With JSON Lines: leave out lines that are not such an object, and say how many");
  table.add("max_invalid_utf8", &max_invalid_percent,
            "Refuse an input_file when more than this percentage of its bytes is not UTF-8",
            {.minimum = 0, .maximum = 100});
}

void add_text_input(OptionTable& table, std::string& files, data::TextForm& form,
                    double& max_invalid_percent) {
  table.add("input_file", &files,
            "Text files, plain, .gz or .zst: paths, globs or folders, separated by commas (a path "
            "that exists may contain them); - is standard input",
            {.is_required = true});
  add_text_form(table, form, max_invalid_percent);
}

void add_tokenizer_options(OptionTable& table, TokenizerFlags& flags, const char* default_profile) {
  table.add("vocab_file", &flags.vocabulary_file, "vocab.txt or tokenizer.json",
            {.is_required = true});
  add_rule_options(table, flags.rules);
  table.add("profile", &flags.profile, fmt::format("Tokenizer rules ({})", default_profile),
            {.choices = {"hf", "google"}});
}

void add_rule_options(OptionTable& table, text::StatedRules& rules) {
  table.add("do_lower_case", &rules.lower_case,
            "Lower-case the text (as the vocabulary's files say; else unless it has capitals)");
  table.add("strip_accents", &rules.strip_accents,
            "Strip accents and vowel signs from the text (as those files say; else when "
            "lower-casing)");
}

Option profile_option(text::Profile& profile) {
  return {"profile",
          named(profile, text::profile_from_name, text::profile_name),
          "Rules: hf (the tokenizers package) or google (BERT's tokenization.py)",
          {.choices = {"hf", "google"}}};
}

Option threads_option(int& threads) {
  return {"threads",
          &threads,
          "Threads; the output does not depend on it",
          {.minimum = 1, .maximum = platform::kMostThreads}};
}

text::Tokenizer make_tokenizer(const TokenizerFlags& flags, const std::string& default_profile) {
  const std::string& profile = flags.profile.empty() ? default_profile : flags.profile;
  checkpoints::StoredTokenizer stored = checkpoints::read_tokenizer("", flags.vocabulary_file);
  checkpoints::take_rules(flags.rules, stored);
  stored.options.profile = text::profile_from_name(profile);
  for (const std::string& note : stored.notes) say("note: {}\n", note);
  return {std::move(stored.vocabulary), stored.options};
}

void add_record_options(OptionTable& table, std::string& train_files, data::RecordShape& shape) {
  table.add("train_file", &train_files,
            "Record files: paths, globs or folders, separated by commas (a path that exists may "
            "contain them); or a token store",
            {.is_required = true});
  table.add("seq_length", &shape.sequence_length,
            "Tokens per record; records with another number are refused; 0: any", {.minimum = 0});
  table.add("max_predictions_per_seq", &shape.max_predictions,
            "Prediction slots per record; records with another number are refused; 0: any",
            {.minimum = 0});
  table.add("vocab_size", &shape.vocabulary_size, "All ids must be below this; 0: any",
            {.minimum = 0});
}

std::unique_ptr<data::TokenStoreDataset> open_drawn_samples(const std::string& token_store,
                                                            const data::RecordShape& shape) {
  if (shape.sequence_length < 1 || shape.max_predictions < 1) {
    throw_user_error("samples are drawn from {}; give --seq-length and --max-predictions-per-seq",
                     token_store);
  }
  if (shape.vocabulary_size > 0) {
    throw_user_error("the token store {} has its own vocabulary; leave out --vocab-size {}",
                     token_store, shape.vocabulary_size);
  }
  return std::make_unique<data::TokenStoreDataset>(
      std::make_shared<const data::TokenStore>(token_store),
      data::DrawingOptions{.pairs = {.masking = {.sequence_length = shape.sequence_length,
                                                 .max_predictions = shape.max_predictions}}});
}

data::DatasetStatistics measure_with_display(const data::Dataset& dataset, int32_t unknown_id) {
  std::atomic<int64_t> done = 0;
  const int64_t size = dataset.size();
  const WorkDisplay display([&](double seconds) {
    return fmt::format("counted {:.0f} % of {} samples, {} left", percent(done, size), size,
                       time_left(done, size, seconds));
  });
  return data::measure(
      dataset, platform::available_threads(), [&](int64_t so_far) { done = so_far; }, unknown_id);
}

void print_pair_notice(double share, std::string_view what, std::string_view otherwise) {
  constexpr double kNoticeable = 0.25;
  if (share < kNoticeable) return;
  say("note: {:.0f} % of {}; if a line of the text holds several sentences, set "
      "--input-format paragraphs{}\n",
      100 * share, what, otherwise);
}

void print_defects(const std::vector<data::RecordDefect>& defects) {
  constexpr size_t kShown = 20;
  for (size_t i = 0; i < std::min(defects.size(), kShown); ++i) {
    say("{}\n", defects[i].text());
  }
  if (defects.size() > kShown) say("... {} more\n", defects.size() - kShown);
}

std::string describe_dumps(const data::WikipediaProgress& progress, double seconds) {
  return fmt::format(
      "{}, {} articles",
      describe_bytes(progress.bytes, progress.total_bytes, seconds, progress.bytes_before),
      progress.articles.load());
}

std::string describe_tokenising(const data::CreationProgress& progress, double seconds) {
  if (progress.total_text_bytes == 0 && progress.dumps.total_bytes > 0) {
    return describe_dumps(progress.dumps, seconds);
  }
  return "tokenising " + describe_bytes(progress.text_bytes, progress.total_text_bytes, seconds,
                                        progress.text_bytes_before);
}

data::TokenStoreBuilt build_with_display(data::TokenStoreOptions options,
                                         const text::Tokenizer& tokenizer,
                                         double max_unknown_percent) {
  options.examine = cut_report(tokenizer, max_unknown_percent);
  data::CreationProgress progress;
  progress.notice = [](const std::string& notice) { say("note: {}\n", notice); };
  const WorkDisplay display([&](double seconds) { return describe_tokenising(progress, seconds); });
  return data::build_token_store(options, tokenizer, progress);
}

}  // namespace cloze::cli
