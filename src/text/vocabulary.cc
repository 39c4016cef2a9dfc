#include "text/vocabulary.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "platform/files/file.h"
#include "text/ascii.h"
#include "text/likely_rules.h"
#include "text/utf8.h"

namespace cloze::text {

Vocabulary Vocabulary::load(const std::filesystem::path& path) {
  const std::string bytes = platform::read_file(path);
  const std::string_view content = without_byte_order_mark(bytes);
  std::vector<std::string> tokens;
  for (size_t begin = 0; begin < content.size();) {
    const size_t end = std::min(content.find('\n', begin), content.size());
    tokens.emplace_back(trim_ascii(content.substr(begin, end - begin)));
    begin = end + 1;
  }
  while (!tokens.empty() && tokens.back().empty()) tokens.pop_back();
  if (tokens.empty()) {
    throw_data_error("{}: empty; a vocabulary has one token per line", path.string());
  }
  return Vocabulary(std::move(tokens), path.string());
}

Vocabulary Vocabulary::from_tokens(std::vector<std::string> tokens, const std::string& source) {
  return Vocabulary(std::move(tokens), source);
}

Vocabulary::Vocabulary(std::vector<std::string> tokens, const std::string& source)
    : tokens_(std::move(tokens)) {
  ids_.reserve(tokens_.size());
  for (size_t i = 0; i < tokens_.size(); ++i) {
    const std::string& token = tokens_[i];
    if (token.empty()) {
      throw_data_error("{} line {}: empty; every line of a vocabulary is one token, delete it",
                       source, i + 1);
    }
    if (!is_valid_utf8(token)) {
      throw_data_error("{} line {}: not UTF-8; is this a vocabulary?", source, i + 1);
    }
    const auto [place, is_new] = ids_.emplace(token, static_cast<int32_t>(i));
    if (!is_new) {
      throw_data_error(
          "{} line {}: '{}' is already on line {}; each token must appear only once: give one of "
          "the two another name, such as [unused1]",
          source, i + 1, token, place->second + 1);
    }
  }
  pad_id_ = special_id(kPadToken, source);
  unknown_id_ = special_id(kUnknownToken, source);
  cls_id_ = special_id(kClsToken, source);
  sep_id_ = special_id(kSepToken, source);
  mask_id_ = special_id(kMaskToken, source);
}

int32_t Vocabulary::special_id(std::string_view token, const std::string& source) const {
  if (const std::optional<int32_t> id = find(token)) return *id;
  throw_data_error(
      "{}: {} is missing among {} tokens; a BERT vocabulary needs [PAD] [UNK] [CLS] [SEP] [MASK]",
      source, token, tokens_.size());
}

std::optional<int32_t> Vocabulary::find(std::string_view token) const {
  const auto found = ids_.find(token);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

const std::string& Vocabulary::token(int32_t id) const {
  CLOZE_CHECK(id >= 0 && id < size(), "token {} of a vocabulary of {}", id, size());
  return tokens_[static_cast<size_t>(id)];
}

std::string Vocabulary::to_text() const {
  std::string text;
  for (const std::string& token : tokens_) {
    text += token;
    text += '\n';
  }
  return text;
}

bool Vocabulary::likely_lower_cased() const {
  return is_unchanged_by(*this, {.lower_case = true, .strip_accents = false});
}

std::optional<std::string> missing_rows(const Vocabulary& vocabulary, int64_t rows,
                                        std::string_view source) {
  const int64_t tokens = vocabulary.size();
  if (tokens <= rows) return std::nullopt;
  if (tokens >= max_ids(rows)) {
    throw_user_error(
        "{} has {} tokens, the model's vocab_size is {}; they do not belong together: give the "
        "vocabulary that the model was trained with, or --vocab-size {} for a new model",
        source, tokens, rows, tokens);
  }
  for (const int32_t id : {vocabulary.pad_id(), vocabulary.unknown_id(), vocabulary.cls_id(),
                           vocabulary.sep_id(), vocabulary.mask_id()}) {
    if (id < rows) continue;
    throw_user_error(
        "{}: {} is token {}, but the model's vocab_size is {}; give the vocabulary that the model "
        "was trained with",
        source, vocabulary.token(id), id, rows);
  }
  return fmt::format("{} has {} tokens, the model {} rows: the last {} tokens are read as {}",
                     source, tokens, rows, tokens - rows, kUnknownToken);
}

}  // namespace cloze::text
