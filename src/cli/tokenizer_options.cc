#include "cli/tokenizer_options.h"

#include <utility>

#include "base/error.h"
#include "checkpoints/stored_tokenizer.h"

namespace cloze::cli {
namespace {

// The seed program refuses a vocabulary whose name says the other case; this looks inside.
void check_case(const text::Vocabulary& vocabulary, const TokenizerFlags& flags) {
  const bool lower = vocabulary.likely_lower_cased();
  if (lower && !flags.do_lower_case) {
    throw_user_error(
        "{} has no token with a capital: it is an uncased vocabulary; set --do-lower-case",
        flags.vocabulary_file);
  }
  if (!lower && flags.do_lower_case) {
    throw_user_error(
        "{} has tokens with capitals: it is a cased vocabulary; leave --do-lower-case out, or set "
        "it to false",
        flags.vocabulary_file);
  }
}

}  // namespace

void add_text_form(OptionTable& table, data::TextFormat& format, double& max_invalid_percent) {
  table.add("input_format", named(format, data::text_format_from, data::text_format_name),
            "Form of input_file: a sentence or a paragraph a line and a blank line between "
            "documents, an object with a \"text\" a line, WikiExtractor's output, or a dump",
            {.choices = {"sentences", "paragraphs", "jsonl", "wikiextractor", "wikipedia"}});
  table.add("max_invalid_utf8", &max_invalid_percent,
            "Refuse an input_file when more than this per cent of its bytes are not UTF-8",
            {.minimum = 0, .maximum = 100});
}

void add_text_input(OptionTable& table, std::string& files, data::TextFormat& format,
                    double& max_invalid_percent) {
  table.add("input_file", &files,
            "Text files, plain, .gz or .zst: comma list, globs, folders; - is standard input",
            {.is_required = true});
  add_text_form(table, format, max_invalid_percent);
}

void add_tokenizer_options(OptionTable& table, TokenizerFlags& flags) {
  table.add("vocab_file", &flags.vocabulary_file, "vocab.txt or tokenizer.json",
            {.is_required = true});
  table.add("do_lower_case", &flags.do_lower_case, "Lower-case, for uncased vocabularies");
  table.add("profile", &flags.profile, "Tokenizer rules (hf; google with --google-compatible)",
            {.choices = {"hf", "google"}});
}

Option profile_option(text::Profile& profile) {
  return {"profile",
          named(profile, text::profile_from_name, text::profile_name),
          "Rules: hf (the tokenizers package) or google (BERT's tokenization.py)",
          {.choices = {"hf", "google"}}};
}

Option threads_option(int& threads) {
  return {"threads", &threads, "Threads; the output does not depend on it", {.minimum = 1}};
}

text::Tokenizer make_tokenizer(const TokenizerFlags& flags, const std::string& default_profile) {
  text::Vocabulary vocabulary = checkpoints::load_vocabulary(flags.vocabulary_file);
  check_case(vocabulary, flags);
  const std::string& profile = flags.profile.empty() ? default_profile : flags.profile;
  return {std::move(vocabulary),
          {.profile = text::profile_from_name(profile), .lower_case = flags.do_lower_case}};
}

}  // namespace cloze::cli
