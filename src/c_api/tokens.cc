// Tokenizers and encodings of cloze_runtime.h.
#include <algorithm>
#include <cstring>
#include <filesystem>

#include "c_api/handles.h"
#include "checkpoints/stored_tokenizer.h"
#include "platform/available_threads.h"
#include "platform/parallel_for.h"
#include "tasks/encoded_sequence.h"
#include "text/decoding.h"

struct cloze_encoding {
  std::vector<int64_t> lengths, cut, invalid;  // [sequences]
  std::vector<int32_t> ids, types;             // [tokens]
  std::vector<uint8_t> special;
  std::vector<int64_t> begins, ends;
};

namespace {

using namespace cloze;
using namespace cloze::c_api;

constexpr size_t kTextsOfPart = 64;

const text::Tokenizer& opened_tokenizer(const cloze_tokenizer* tokenizer) {
  return *opened(tokenizer, "tokenizer", "cloze_tokenizer_open").shared;
}

const text::Vocabulary& vocabulary_of(const cloze_tokenizer* tokenizer) {
  return opened_tokenizer(tokenizer).vocabulary();
}

const cloze_encoding& opened_encoding(const cloze_encoding* encoding) {
  return opened(encoding, "encoding", "cloze_encode");
}

text::Tokenizer stored_tokenizer(const std::filesystem::path& path) {
  if (inference::PackedModel::is_packed(path)) {
    return inference::PackedModel::read_description(path).tokenizer;
  }
  const bool is_folder = std::filesystem::is_directory(path);
  checkpoints::StoredTokenizer stored =
      is_folder ? checkpoints::read_tokenizer(path) : checkpoints::read_tokenizer("", path);
  return {std::move(stored.vocabulary), stored.options};
}

void check_id(int32_t id, const text::Vocabulary& vocabulary) {
  if (id >= 0 && id < vocabulary.size()) return;
  throw_user_error("token id {}; the tokenizer has 0 to {}", id, vocabulary.size() - 1);
}

// The texts of a call, looked at where they are: encoding needs no copies.
struct EncodedTexts {
  std::vector<std::string_view> first;
  std::vector<std::optional<std::string_view>> second;
};

EncodedTexts texts_to_encode(const cloze_text* texts, const cloze_text* pairs, int64_t count) {
  if (texts == nullptr) throw_user_error("there is no text; give an array of {}", count);
  EncodedTexts all;
  for (int64_t i = 0; i < count; ++i) {
    all.first.push_back(text_of(texts[i], "text", i));
    const bool has_pair = pairs != nullptr && pairs[i].bytes != nullptr;
    all.second.push_back(has_pair ? std::optional(text_of(pairs[i], "pair", i)) : std::nullopt);
  }
  return all;
}

void append(const tasks::EncodedSequence& one, cloze_encoding& all) {
  all.lengths.push_back(std::ssize(one.ids));
  all.cut.push_back(one.texts.tokens - one.texts.kept);
  all.invalid.push_back(static_cast<int64_t>(one.num_invalid));
  all.ids.insert(all.ids.end(), one.ids.begin(), one.ids.end());
  all.types.insert(all.types.end(), one.types.begin(), one.types.end());
  all.special.insert(all.special.end(), one.is_border.begin(), one.is_border.end());
  for (const text::Offset& bytes : one.bytes) {
    all.begins.push_back(bytes.begin);
    all.ends.push_back(bytes.end);
  }
}

void append(const cloze_encoding& part, cloze_encoding& all) {
  const auto append_array = [&](auto member) {
    (all.*member).insert((all.*member).end(), (part.*member).begin(), (part.*member).end());
  };
  for (const auto member :
       {&cloze_encoding::lengths, &cloze_encoding::cut, &cloze_encoding::invalid,
        &cloze_encoding::begins, &cloze_encoding::ends}) {
    append_array(member);
  }
  append_array(&cloze_encoding::ids);
  append_array(&cloze_encoding::types);
  append_array(&cloze_encoding::special);
}

// Room for one token: an array of none is not NULL, which says that a call has failed.
void make_room(cloze_encoding& all) {
  all.ids.reserve(1);
  all.types.reserve(1);
  all.special.reserve(1);
  all.begins.reserve(1);
  all.ends.reserve(1);
}

// Each thread takes some texts at a time, and lays their sequences end to end; one thread takes all.
cloze_encoding* encode(const text::Tokenizer& tokenizer, const EncodedTexts& texts,
                       const tasks::EncodingRule& rule, int num_threads) {
  const int threads = platform::resolved_threads(num_threads);
  const size_t count = texts.first.size();
  const size_t texts_of_part = threads == 1 ? count : kTextsOfPart;
  std::vector<cloze_encoding> parts((count + texts_of_part - 1) / texts_of_part);
  platform::parallel_for(std::ssize(parts), threads, [&](int64_t part) {
    const size_t begin = static_cast<size_t>(part) * texts_of_part;
    for (size_t i = begin; i < std::min(count, begin + texts_of_part); ++i) {
      append(tasks::encoded_sequence(texts.first[i], texts.second[i], tokenizer, rule),
             parts[static_cast<size_t>(part)]);
    }
  });
  auto all = std::make_unique<cloze_encoding>(std::move(parts.front()));
  make_room(*all);
  for (size_t i = 1; i < parts.size(); ++i) append(parts[i], *all);
  return all.release();
}

// An array of an encoding.
template <class Element>
const Element* array_of(const cloze_encoding* encoding,
                        std::vector<Element> cloze_encoding::*member) {
  return guarded<const Element*>(nullptr,
                                 [&] { return (opened_encoding(encoding).*member).data(); });
}

// Writes as much of a text as fits in front of the NUL that ends it.
void copy_out(std::string_view text, char* buffer, int64_t size) {
  if (size == 0) return;
  const size_t bytes = std::min(text.size(), static_cast<size_t>(size - 1));
  std::memcpy(buffer, text.data(), bytes);
  buffer[bytes] = '\0';
}

}  // namespace

cloze_tokenizer* cloze_tokenizer_open(const char* path) {
  return guarded<cloze_tokenizer*>(nullptr, [&] {
    if (path == nullptr) throw_user_error("cloze_tokenizer_open got no path");
    return new cloze_tokenizer{std::make_shared<const text::Tokenizer>(stored_tokenizer(path))};
  });
}

void cloze_tokenizer_close(cloze_tokenizer* tokenizer) { delete tokenizer; }

const cloze_tokenizer* cloze_model_tokenizer(const cloze_model* model) {
  return guarded<const cloze_tokenizer*>(
      nullptr, [&] { return &opened(model, "model", "cloze_model_open").tokenizer; });
}

int64_t cloze_tokenizer_size(const cloze_tokenizer* tokenizer) {
  return guarded<int64_t>(-1, [&] { return vocabulary_of(tokenizer).size(); });
}

const char* cloze_token(const cloze_tokenizer* tokenizer, int32_t id) {
  return guarded<const char*>(nullptr, [&] {
    const text::Vocabulary& vocabulary = vocabulary_of(tokenizer);
    check_id(id, vocabulary);
    return vocabulary.token(id).c_str();
  });
}

int32_t cloze_token_id(const cloze_tokenizer* tokenizer, const char* token) {
  return guarded<int32_t>(-1, [&] {
    const text::Vocabulary& vocabulary = vocabulary_of(tokenizer);
    if (token == nullptr) throw_user_error("cloze_token_id got no token");
    if (const auto id = vocabulary.find(token)) return *id;
    throw_user_error("\"{}\" is none of the tokenizer's {} tokens", token, vocabulary.size());
  });
}

int64_t cloze_count_tokens(const cloze_tokenizer* tokenizer, const cloze_text* text) {
  return guarded<int64_t>(-1, [&] {
    const text::Tokenizer& own = opened_tokenizer(tokenizer);
    if (text == nullptr) throw_user_error("cloze_count_tokens got no text");
    return own.count(text_of(*text, "text", 0)).tokens;
  });
}

cloze_encoding* cloze_encode(const cloze_tokenizer* tokenizer, const cloze_text* texts,
                             const cloze_text* pairs, int64_t count, int64_t max_tokens, int flags,
                             int num_threads) {
  return guarded<cloze_encoding*>(nullptr, [&] {
    const text::Tokenizer& own = opened_tokenizer(tokenizer);
    check_count("cloze_encode", "texts", count);
    check_flags("cloze_encode", flags, CLOZE_WITHOUT_SPECIAL_TOKENS);
    if (max_tokens < 0) {
      throw_user_error("cloze_encode got max_tokens {}; give 1 or more, or 0 to cut nothing",
                       max_tokens);
    }
    tasks::EncodingRule rule{.has_borders = flags == 0};
    if (max_tokens > 0) rule.max_length = max_tokens;
    return encode(own, texts_to_encode(texts, pairs, count), rule, num_threads);
  });
}

void cloze_encoding_close(cloze_encoding* encoding) { delete encoding; }

int64_t cloze_encoding_sequences(const cloze_encoding* encoding) {
  return guarded<int64_t>(-1, [&] { return std::ssize(opened_encoding(encoding).lengths); });
}
int64_t cloze_encoding_tokens(const cloze_encoding* encoding) {
  return guarded<int64_t>(-1, [&] { return std::ssize(opened_encoding(encoding).ids); });
}
const int64_t* cloze_encoding_lengths(const cloze_encoding* encoding) {
  return array_of(encoding, &cloze_encoding::lengths);
}
const int64_t* cloze_encoding_cut(const cloze_encoding* encoding) {
  return array_of(encoding, &cloze_encoding::cut);
}
const int64_t* cloze_encoding_invalid(const cloze_encoding* encoding) {
  return array_of(encoding, &cloze_encoding::invalid);
}
const int32_t* cloze_encoding_ids(const cloze_encoding* encoding) {
  return array_of(encoding, &cloze_encoding::ids);
}
const int32_t* cloze_encoding_types(const cloze_encoding* encoding) {
  return array_of(encoding, &cloze_encoding::types);
}
const uint8_t* cloze_encoding_special(const cloze_encoding* encoding) {
  return array_of(encoding, &cloze_encoding::special);
}
const int64_t* cloze_encoding_begins(const cloze_encoding* encoding) {
  return array_of(encoding, &cloze_encoding::begins);
}
const int64_t* cloze_encoding_ends(const cloze_encoding* encoding) {
  return array_of(encoding, &cloze_encoding::ends);
}

int cloze_encoding_batch(const cloze_encoding* encoding, cloze_batch* batch) {
  return guarded(-1, [&] {
    const cloze_encoding& own = opened_encoding(encoding);
    if (batch == nullptr) throw_user_error("cloze_encoding_batch got no batch");
    *batch = {own.ids.data(), own.types.data(), own.lengths.data(), std::ssize(own.lengths)};
    return 0;
  });
}

int64_t cloze_decode(const cloze_tokenizer* tokenizer, const int32_t* ids, int64_t count, int flags,
                     char* buffer, int64_t size) {
  return guarded<int64_t>(-1, [&] {
    const text::Vocabulary& vocabulary = vocabulary_of(tokenizer);
    check_flags("cloze_decode", flags, CLOZE_WITHOUT_SPECIAL_TOKENS);
    if (count < 0 || (ids == nullptr && count > 0)) {
      throw_user_error("cloze_decode got {} ids; give 0 or more, and where they are", count);
    }
    if (size < 0 || (buffer == nullptr && size > 0)) {
      throw_user_error("cloze_decode got a buffer of {} bytes; give 0 or more, and where it is",
                       size);
    }
    const std::span<const int32_t> all(ids, static_cast<size_t>(count));
    for (const int32_t id : all) check_id(id, vocabulary);
    const std::string text = text::decoded_text(all, vocabulary, flags != 0);
    copy_out(text, buffer, size);
    return std::ssize(text);
  });
}
