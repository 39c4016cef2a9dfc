#include "text/tokenizer.h"

#include <algorithm>

#include "base/error.h"

namespace cloze::text {
namespace {

constexpr size_t kBytesOfToken = 4;

}  // namespace

Profile profile_from_name(std::string_view name) {
  if (name == "hf") return Profile::kHuggingFace;
  if (name == "google") return Profile::kGoogle;
  throw_user_error("tokenizer profile '{}': must be hf or google", name);
}

std::string_view profile_name(Profile profile) {
  return profile == Profile::kHuggingFace ? "hf" : "google";
}

Tokenizer::Tokenizer(Vocabulary vocabulary, TokenizerOptions options, int64_t rows)
    : vocabulary_(std::move(vocabulary)),
      options_(options),
      basic_tokenizer_(options),
      word_piece_(vocabulary_),
      rows_(rows) {}

uint64_t Tokenizer::append_ids(std::string_view text, std::vector<int32_t>& ids) const {
  const size_t old_size = ids.size();
  const uint64_t num_invalid = append_stored_ids(text, ids);
  replace_rowless(std::span(ids).subspan(old_size));
  return num_invalid;
}

TokenCount Tokenizer::count(std::string_view text) const {
  std::vector<int32_t> ids;
  append_stored_ids(text, ids);
  return {.tokens = std::ssize(ids),
          .rowless = std::ranges::count_if(ids, [&](int32_t id) { return id >= rows_; })};
}

// Appends ids as the vocabulary has them, whether the model has a row for them or not.
uint64_t Tokenizer::append_stored_ids(std::string_view text, std::vector<int32_t>& ids) const {
  const int32_t unknown = vocabulary_.unknown_id();
  return basic_tokenizer_.split<false>(text, [&](const Word& word) {
    if (word.is_overlong || !word_piece_.append_pieces(word.text, ids)) ids.push_back(unknown);
  });
}

Encoding Tokenizer::encode(std::string_view text) const {
  if (text.size() > std::numeric_limits<uint32_t>::max()) {
    throw_user_error("text of {} bytes: offsets reach 4 GiB; encode it in parts", text.size());
  }
  Encoding encoding;
  // Makes room for as many as most texts have: growing step by step takes a tenth of the time.
  const size_t guess = text.size() / kBytesOfToken + 1;
  encoding.ids.reserve(guess);
  encoding.offsets.reserve(guess);
  encoding.num_invalid = basic_tokenizer_.split<true>(text, [&](const Word& word) {
    const size_t first_piece = encoding.ids.size();
    if (word.is_overlong || !word_piece_.append_pieces(word.text, encoding.ids)) {
      encoding.ids.push_back(vocabulary_.unknown_id());
      encoding.offsets.push_back(word.extent);
    } else {
      append_offsets(word, first_piece, encoding);
    }
  });
  replace_rowless(encoding.ids);
  return encoding;
}

void Tokenizer::replace_rowless(std::span<int32_t> ids) const {
  if (!lacks_rows()) return;
  std::ranges::replace_if(
      ids, [&](int32_t id) { return id >= rows_; }, vocabulary_.unknown_id());
}

void Tokenizer::append_offsets(const Word& word, size_t first_piece, Encoding& encoding) const {
  if (encoding.ids.size() == first_piece + 1) return encoding.offsets.push_back(word.extent);
  size_t begin = 0;
  for (size_t i = first_piece; i < encoding.ids.size(); ++i) {
    const size_t prefix = i == first_piece ? 0 : kContinuation.size();
    const size_t end = begin + vocabulary_.token(encoding.ids[i]).size() - prefix;
    encoding.offsets.push_back({word.sources[begin].begin, word.sources[end - 1].end});
    begin = end;
  }
}

}  // namespace cloze::text
