#include "checkpoints/stored_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "checkpoints/added_tokens.h"
#include "checkpoints/hugging_face_tokenizer.h"
#include "checkpoints/stored_model.h"
#include "checkpoints/tokenizer_json.h"
#include "text/likely_rules.h"

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

// The rules that a file states, and a guess of the others. A file that states do_lower_case but not
// strip_accents states the same for both.
text::TokenizerOptions completed(const text::StatedRules& stated,
                                 const text::Vocabulary& vocabulary) {
  if (stated.lower_case) return stated.over({});
  return stated.over(text::likely_rules(vocabulary));
}

text::StatedRules all_of(const text::TokenizerOptions& options) {
  return {options.lower_case, options.strip_accents, options.tokenize_chinese_chars};
}

// Sets the tokenizer's options to the rules of a file, tokenizer_config.json, in a folder; a
// tokenizer.json, if there is one, brings its own.
void settle_rules(const fs::path& file, const std::optional<TokenizerJson>& json,
                  StoredTokenizer& tokenizer) {
  if (!json) {
    tokenizer.stated = read_stated_rules(file);
    tokenizer.options = completed(tokenizer.stated, tokenizer.vocabulary);
    return;
  }
  const fs::path folder = file.parent_path();
  tokenizer.options = json->options;
  tokenizer.stated = all_of(json->options);
  if (tokenizer_json_rules(folder)) return;
  tokenizer.options = read_stated_rules(file).over(json->options);
  tokenizer.stated = all_of(tokenizer.options);
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

// The file of the rules of a vocabulary: one of its own name where there is one, else the folder's.
fs::path stated_beside(const fs::path& vocabulary_file) {
  const fs::path own = rules_file_of(vocabulary_file);
  return fs::exists(own) ? own : folder_of(vocabulary_file) / kTokenizerConfigName;
}

}  // namespace

fs::path rules_file_of(const fs::path& vocabulary_file) {
  const bool is_usual = vocabulary_file.filename() == kVocabularyName;
  const std::string prefix = is_usual ? "" : vocabulary_file.stem().string() + ".";
  return vocabulary_file.parent_path() / (prefix + kTokenizerConfigName);
}

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
  const fs::path stated = has_models_rules ? folder / kTokenizerConfigName : stated_beside(file);
  const bool has_own_name = stated.filename() != kTokenizerConfigName;
  if (!has_models_rules && !has_own_name) require_bert_tokenizer(beside);
  const bool has_own_rules = is_json(file) && !has_models_rules;
  const fs::path json_file = has_own_rules ? file : rules / kTokenizerName;
  std::optional<TokenizerJson> json;
  if (!has_own_name && (has_own_rules || fs::exists(json_file))) {
    json = read_tokenizer_json(json_file);
  }
  StoredTokenizer tokenizer{
      .vocabulary = json && json_file == file ? json->vocabulary : load_vocabulary(file),
      .vocabulary_file = file};
  if (json) tokenizer.notes = json->notes;
  settle_rules(stated, json, tokenizer);
  if (!fs::equivalent(rules, beside)) return tokenizer;
  if (file.filename() == kVocabularyName && json) {
    check_same_tokens(tokenizer.vocabulary, json->vocabulary, beside);
  }
  settle_added(beside, json, tokenizer);
  return tokenizer;
}

void take_rules(const text::StatedRules& options, StoredTokenizer& tokenizer) {
  const std::string file = tokenizer.vocabulary_file.string();
  const text::StatedRules& stated = tokenizer.stated;
  const bool lowers = options.lower_case.value_or(false);
  if (lowers && !stated.lower_case.value_or(false) && !tokenizer.vocabulary.likely_lower_cased()) {
    throw_user_error("do_lower_case is true, but {} has capital letters; set it to false", file);
  }
  const text::TokenizerOptions before = tokenizer.options;
  tokenizer.options = options.over(before);
  const text::TokenizerOptions& after = tokenizer.options;
  const auto note = [&](const char* rule, bool there, bool here) {
    tokenizer.notes.push_back(
        fmt::format("{} comes with {} {}, but {} is used, as asked", file, rule, there, here));
  };
  if (stated.lower_case && before.lower_case != after.lower_case) {
    note("do_lower_case", before.lower_case, after.lower_case);
  }
  if (stated.strip_accents && before.strips_accents() != after.strips_accents()) {
    note("strip_accents", before.strips_accents(), after.strips_accents());
  }
}

}  // namespace cloze::checkpoints
