#include "cli/tokenizer_options.h"

#include <utility>

#include "base/error.h"
#include "checkpoints/stored_tokenizer.h"
#include "platform/file.h"

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

std::vector<std::filesystem::path> TextInputFlags::paths() const {
  return platform::expand_paths(files);
}

data::TextSourceOptions TextInputFlags::source_options(int threads) const {
  constexpr double kPercent = 100;
  if (!(max_invalid_utf8 >= 0 && max_invalid_utf8 <= kPercent)) {
    throw_user_error("--max-invalid-utf8 {} must be in [0, 100]", max_invalid_utf8);
  }
  return {.format = data::text_format_from(format),
          .max_invalid_share = max_invalid_utf8 / kPercent,
          .threads = threads};
}

void add_text_input(Subcommand& command, TextInputFlags& flags) {
  command
      .add_option("--input-file", flags.files,
                  "Text files, plain, .gz or .zst: comma list, globs, folders; - is standard input")
      .required();
  command
      .add_option("--input-format", flags.format,
                  "sentences or paragraphs (one a line, blank line between documents), jsonl "
                  "(objects with a \"text\"), wikiextractor, or wikipedia (a dump)")
      .shows_default();
  command
      .add_option("--max-invalid-utf8", flags.max_invalid_utf8,
                  "Refuse a file when more than this per cent of its bytes are not UTF-8")
      .shows_default();
}

void add_tokenizer_options(Subcommand& command, TokenizerFlags& flags) {
  command.add_option("--vocab-file", flags.vocabulary_file, "vocab.txt or tokenizer.json")
      .required();
  command.add_flag("--do-lower-case", flags.do_lower_case, "Lower-case, for uncased vocabularies");
  command.add_option("--profile", flags.profile,
                     "Tokenizer rules: hf or google [hf; google with --google-compatible]");
}

text::Tokenizer make_tokenizer(const TokenizerFlags& flags, const std::string& default_profile) {
  text::Vocabulary vocabulary = checkpoints::load_vocabulary(flags.vocabulary_file);
  check_case(vocabulary, flags);
  const std::string& profile = flags.profile.empty() ? default_profile : flags.profile;
  return {std::move(vocabulary),
          {.profile = text::profile_from_name(profile), .lower_case = flags.do_lower_case}};
}

}  // namespace cloze::cli
