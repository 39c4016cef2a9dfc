#include "checkpoints/stored_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "checkpoints/added_tokens.h"
#include "checkpoints/hugging_face_tokenizer.h"
#include "checkpoints/stored_model.h"
#include "checkpoints/tokenizer_json.h"

namespace cloze::checkpoints {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVocabularyName = "vocab.txt";
constexpr const char* kTokenizerName = "tokenizer.json";

bool has_rules(const fs::path& folder) {
  return !folder.empty() &&
         (fs::exists(folder / kTokenizerConfigName) || fs::exists(folder / kTokenizerName));
}

bool is_json(const fs::path& file) { return file.extension() == ".json"; }

fs::path required_vocabulary_file(const fs::path& folder) {
  if (const auto file = vocabulary_file_in(folder)) return *file;
  throw_user_error("{} has neither {} nor {}; give a folder with a tokenizer", folder.string(),
                   kVocabularyName, kTokenizerName);
}

void check_same_tokens(const text::Vocabulary& lines, const text::Vocabulary& json,
                       const fs::path& folder) {
  const auto [line, entry] = std::ranges::mismatch(lines.tokens(), json.tokens());
  if (line == lines.tokens().end()) return;  // tokens may have been added to tokenizer.json
  throw_user_error("{}: token {} is '{}' in {}, but '{}' in {}; remove the file that is wrong",
                   folder.string(), line - lines.tokens().begin(), *line, kVocabularyName,
                   entry == json.tokens().end() ? "absent" : *entry, kTokenizerName);
}

std::string rules_text(const text::TokenizerOptions& options) {
  return fmt::format("lowercase {}, strip_accents {}, handle_chinese_chars {}", options.lower_case,
                     options.strips_accents(), options.tokenize_chinese_chars);
}

// Replaces the tokenizer's options with the folder's rules; a tokenizer.json, if there is one,
// brings its own.
void settle_rules(const fs::path& folder, const std::optional<TokenizerJson>& json,
                  StoredTokenizer& tokenizer) {
  if (!json) {
    tokenizer.options = read_tokenizer_options(folder, tokenizer.options);
    return;
  }
  tokenizer.options = json->options;
  if (tokenizer_json_rules(folder)) return;
  tokenizer.options = read_tokenizer_options(folder, json->options);
  if (tokenizer.options.lower_case == json->options.lower_case &&
      tokenizer.options.strips_accents() == json->options.strips_accents() &&
      tokenizer.options.tokenize_chinese_chars == json->options.tokenize_chinese_chars) {
    return;
  }
  tokenizer.notes.push_back(fmt::format(
      "{}: tokenizer_config.json says {}, {} says {}; tokenizer_config.json takes precedence, as "
      "in transformers",
      folder.string(), rules_text(tokenizer.options), kTokenizerName, rules_text(json->options)));
}

// Counts and notes what was added in a folder beside the vocabulary; tokenizer.json, where there is
// one, has its own notes.
void settle_added(const fs::path& folder, const std::optional<TokenizerJson>& json,
                  StoredTokenizer& tokenizer) {
  const int64_t size = tokenizer.vocabulary.size();
  if (json) {
    tokenizer.num_added = std::max<int64_t>(json->vocabulary.size() - size, 0);
    return;
  }
  const auto added = added_tokens_in(folder, size);
  tokenizer.num_added = std::ssize(added);
  std::ranges::move(notes_on(added, folder), std::back_inserter(tokenizer.notes));
}

}  // namespace

std::optional<fs::path> vocabulary_file_in(const fs::path& folder) {
  for (const char* name : {kVocabularyName, kTokenizerName}) {
    if (fs::exists(folder / name)) return folder / name;
  }
  return std::nullopt;
}

text::Vocabulary load_vocabulary(const fs::path& file) {
  return is_json(file) ? read_tokenizer_json(file).vocabulary : text::Vocabulary::load(file);
}

StoredTokenizer read_tokenizer(const fs::path& folder, const fs::path& vocabulary_file) {
  const fs::path file =
      vocabulary_file.empty() ? required_vocabulary_file(folder) : vocabulary_file;
  const fs::path beside = folder_of(file);
  const bool has_models_rules = has_rules(folder);
  const fs::path rules = has_models_rules ? folder : beside;
  require_bert_tokenizer(folder);
  if (!has_models_rules) require_bert_tokenizer(beside);
  const bool has_own_rules = is_json(file) && !has_models_rules;
  const fs::path json_file = has_own_rules ? file : rules / kTokenizerName;
  std::optional<TokenizerJson> json;
  if (has_own_rules || fs::exists(json_file)) json = read_tokenizer_json(json_file);
  StoredTokenizer tokenizer{
      .vocabulary = json && json_file == file ? json->vocabulary : load_vocabulary(file),
      .vocabulary_file = file};
  if (json) tokenizer.notes = json->notes;
  tokenizer.options.lower_case = tokenizer.vocabulary.likely_lower_cased();
  settle_rules(rules, json, tokenizer);
  if (!fs::equivalent(rules, beside)) return tokenizer;
  if (file.filename() == kVocabularyName && json) {
    check_same_tokens(tokenizer.vocabulary, json->vocabulary, beside);
  }
  settle_added(beside, json, tokenizer);
  return tokenizer;
}

void require_letter_case(const StoredTokenizer& tokenizer, bool do_lower_case) {
  const bool said = tokenizer.options.lower_case;
  if (said == do_lower_case) return;
  throw_user_error(
      "{} requires lowercase {}, but do_lower_case is {}; set --do-lower-case {}, or change the "
      "rule in a tokenizer_config.json beside it",
      tokenizer.vocabulary_file.string(), said, do_lower_case, said);
}

void require_rules(const StoredTokenizer& tokenizer, const text::TokenizerOptions& followed) {
  const text::TokenizerOptions& said = tokenizer.options;
  const std::string file = tokenizer.vocabulary_file.string();
  require_letter_case(tokenizer, followed.lower_case);
  const auto require = [&](const char* rule, bool there, bool here) {
    if (there == here) return;
    throw_user_error(
        "{} requires {} {}, but this command cuts text with {}; if that is what you want, give the "
        "tokens as a {} in a folder of its own",
        file, rule, there, here, kVocabularyName);
  };
  require("strip_accents", said.strips_accents(), followed.strips_accents());
  require("handle_chinese_chars", said.tokenize_chinese_chars, followed.tokenize_chinese_chars);
}

}  // namespace cloze::checkpoints
