#include "data/token_store/token_shard.h"

#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/division.h"
#include "base/error.h"
#include "formats/xxh3.h"

namespace cloze::data {
namespace {

static_assert(std::endian::native == std::endian::little, "shards are mapped as they are");

constexpr std::string_view kMagic = "clozetok";
constexpr uint32_t kVersion = 1;
constexpr uint64_t kBlockBytes = 64 << 10;

struct RawHeader {
  std::array<char, 8> magic{};
  uint32_t version = kVersion;
  uint32_t bytes_per_id = 0;
  uint64_t documents = 0;
  uint64_t sentences = 0;
  uint64_t tokens = 0;
  uint64_t text_bytes = 0;
  uint64_t invalid_utf8 = 0;
  std::array<char, kKeyDigits> key{};
  uint64_t block_table_hash = 0;
};
static_assert(sizeof(RawHeader) == 96 && std::is_trivially_copyable_v<RawHeader>);
constexpr uint64_t kBodyOffset = sizeof(RawHeader) + sizeof(uint64_t);

uint64_t blocks_in(uint64_t bytes) { return divide_up(bytes, kBlockBytes); }

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

template <typename T>
void append_value(const T& value, std::string& out) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append_narrowed(std::span<const uint64_t> values, std::string& out) {
  for (const uint64_t value : values) append_value(static_cast<uint32_t>(value), out);
}

std::string body_of(const CorpusArrays& corpus) {
  std::string body;
  append_narrowed(corpus.document_starts, body);
  for (const uint64_t sentence : corpus.document_starts) {
    append_value(static_cast<uint32_t>(corpus.sentence_starts[sentence]), body);
  }
  append_narrowed(corpus.sentence_starts, body);
  body.append(reinterpret_cast<const char*>(corpus.ids.data()), corpus.ids.size());
  body.resize((kBodyOffset + body.size() + 7) / 8 * 8 - kBodyOffset);
  return body;
}

std::string block_table_of(std::string_view body) {
  std::string table;
  for (uint64_t begin = 0; begin < body.size(); begin += kBlockBytes) {
    append_value(formats::xxh3(bytes_of(body.substr(begin, kBlockBytes))), table);
  }
  return table;
}

}  // namespace

std::string token_shard_bytes(const ArrayCorpus& corpus, std::string_view key, int64_t text_bytes,
                              int64_t invalid_utf8) {
  CLOZE_CHECK(corpus.tokens() <= std::numeric_limits<uint32_t>::max(), "{} tokens in a shard",
              corpus.tokens());
  CLOZE_CHECK(key.size() == kKeyDigits, "key {} of a shard", key);
  const std::string body = body_of(corpus.arrays());
  const std::string table = block_table_of(body);
  RawHeader header{.bytes_per_id = static_cast<uint32_t>(corpus.arrays().bytes_per_id),
                   .documents = static_cast<uint64_t>(corpus.documents()),
                   .sentences = static_cast<uint64_t>(corpus.sentences()),
                   .tokens = static_cast<uint64_t>(corpus.tokens()),
                   .text_bytes = static_cast<uint64_t>(text_bytes),
                   .invalid_utf8 = static_cast<uint64_t>(invalid_utf8),
                   .block_table_hash = formats::xxh3(bytes_of(table))};
  kMagic.copy(header.magic.data(), kMagic.size());
  key.copy(header.key.data(), kKeyDigits);
  std::string bytes;
  bytes.reserve(kBodyOffset + body.size() + table.size());
  append_value(header, bytes);
  append_value(formats::xxh3(bytes_of(bytes)), bytes);
  bytes += body;
  bytes += table;
  return bytes;
}

TokenShard::TokenShard(std::filesystem::path path) : path_(std::move(path)), file_(path_) {
  read_header();
}

void TokenShard::throw_damaged(std::string_view what) const {
  throw_data_error("{}: {}; the file is damaged: make the store again with cloze data tokens",
                   path_.string(), what);
}

void TokenShard::read_header() {
  const std::string_view bytes = file_.text();
  if (bytes.size() < kBodyOffset) throw_damaged("too short for a shard of tokens");
  RawHeader raw;
  std::memcpy(&raw, bytes.data(), sizeof raw);
  uint64_t hash = 0;
  std::memcpy(&hash, bytes.data() + sizeof raw, sizeof hash);
  if (std::string_view(raw.magic.data(), raw.magic.size()) != kMagic) {
    throw_damaged("does not begin as a shard of tokens");
  }
  if (formats::xxh3(bytes_of(bytes.substr(0, sizeof raw))) != hash) {
    throw_damaged("checksum of bytes [0, 96) does not match");
  }
  if (raw.version != kVersion) {
    throw_data_error("{}: version {} of the shard format; this program reads version {}",
                     path_.string(), raw.version, kVersion);
  }
  // A checksum proves nothing: these checks keep the arithmetic below inside the file.
  constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max();
  if (raw.documents > kMost || raw.sentences > kMost || raw.tokens > kMost ||
      (raw.bytes_per_id != sizeof(uint16_t) && raw.bytes_per_id != sizeof(int32_t))) {
    throw_damaged("sizes that no shard has");
  }
  header_ = {.documents = static_cast<int64_t>(raw.documents),
             .sentences = static_cast<int64_t>(raw.sentences),
             .tokens = static_cast<int64_t>(raw.tokens),
             .text_bytes = static_cast<int64_t>(raw.text_bytes),
             .invalid_utf8 = static_cast<int64_t>(raw.invalid_utf8),
             .bytes_per_id = raw.bytes_per_id,
             .key = std::string(raw.key.data(), raw.key.size())};
  place_tables();
  if (formats::xxh3(bytes_of(bytes.substr(block_table_))) != raw.block_table_hash) {
    throw_damaged(
        fmt::format("checksum of bytes [{}, {}) does not match", block_table_, bytes.size()));
  }
  is_verified_ = std::make_unique<std::atomic<bool>[]>(blocks_in(block_table_ - kBodyOffset));
}

void TokenShard::place_tables() {
  const auto bytes_of_table = [](int64_t rows) {
    return sizeof(uint32_t) * static_cast<uint64_t>(rows);
  };
  document_sentences_ = kBodyOffset;
  document_tokens_ = document_sentences_ + bytes_of_table(header_.documents + 1);
  sentence_tokens_ = document_tokens_ + bytes_of_table(header_.documents + 1);
  ids_ = sentence_tokens_ + bytes_of_table(header_.sentences + 1);
  block_table_ = (ids_ + static_cast<uint64_t>(header_.bytes_per_id * header_.tokens) + 7) / 8 * 8;
  const uint64_t bytes = block_table_ + sizeof(uint64_t) * blocks_in(block_table_ - kBodyOffset);
  if (file_.text().size() != bytes) {
    throw_damaged(fmt::format("has {} bytes instead of {}", file_.text().size(), bytes));
  }
}

void TokenShard::verify() const { verify_bytes(kBodyOffset, block_table_); }

void TokenShard::verify_bytes(uint64_t begin, uint64_t end) const {
  if (begin >= end) return;
  const uint64_t last = (end - 1 - kBodyOffset) / kBlockBytes;
  for (uint64_t block = (begin - kBodyOffset) / kBlockBytes; block <= last; ++block) {
    if (is_verified_[block].load(std::memory_order_relaxed)) continue;
    const uint64_t at = kBodyOffset + block * kBlockBytes;
    const uint64_t bytes = std::min(kBlockBytes, block_table_ - at);
    uint64_t expected = 0;
    std::memcpy(&expected, file_.text().data() + block_table_ + sizeof expected * block,
                sizeof expected);
    if (formats::xxh3(file_.bytes().subspan(at, bytes)) != expected) {
      throw_damaged(fmt::format("checksum of bytes [{}, {}) does not match", at, at + bytes));
    }
    is_verified_[block].store(true, std::memory_order_relaxed);
  }
}

int64_t TokenShard::element(uint64_t table, int64_t index) const {
  const uint64_t at = table + sizeof(uint32_t) * static_cast<uint64_t>(index);
  if (at + sizeof(uint32_t) > ids_) throw_damaged(fmt::format("element {} of a table", index));
  verify_bytes(at, at + sizeof(uint32_t));
  uint32_t value = 0;
  std::memcpy(&value, file_.text().data() + at, sizeof value);
  return value;
}

int64_t TokenShard::sentences_in(int64_t document) const {
  return first_sentence(document + 1) - first_sentence(document);
}

int64_t TokenShard::tokens_in(int64_t document) const {
  return element(document_tokens_, document + 1) - element(document_tokens_, document);
}

int64_t TokenShard::tokens_before(int64_t document, int64_t sentence) const {
  return element(sentence_tokens_, first_sentence(document) + sentence) -
         element(document_tokens_, document);
}

void TokenShard::append_tokens(int64_t document, int64_t begin, int64_t end,
                               std::vector<int32_t>& ids) const {
  const int64_t first = element(document_tokens_, document);
  const int64_t from = first + begin;
  const int64_t to = first + end;
  if (from > to || to > header_.tokens) throw_damaged(fmt::format("tokens [{}, {})", from, to));
  const uint64_t width = static_cast<uint64_t>(header_.bytes_per_id);
  verify_bytes(ids_ + width * from, ids_ + width * to);
  const char* const data = file_.text().data() + ids_;
  const size_t size = ids.size();
  ids.resize(size + static_cast<size_t>(to - from));
  if (width == sizeof(int32_t)) {
    std::memcpy(ids.data() + size, data + width * from, width * (to - from));
    return;
  }
  for (int64_t i = from; i < to; ++i) {
    uint16_t id = 0;
    std::memcpy(&id, data + width * i, sizeof id);
    ids[size + i - from] = id;
  }
}

}  // namespace cloze::data
