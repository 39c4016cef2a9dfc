#include "data/records/unpacked_binary.h"

#include <cstring>

#include "base/error.h"

namespace cloze::data {
namespace {

using Words = std::vector<uint32_t>;

void append(const std::vector<int32_t>& values, int64_t size, Words& words) {
  CLOZE_CHECK(std::ssize(values) <= size, "{} values for {} places", values.size(), size);
  words.insert(words.end(), values.begin(), values.end());
  words.resize(words.size() + static_cast<size_t>(size - std::ssize(values)));
}

}  // namespace

uint64_t unpacked_binary_bytes(const RecordShape& shape) {
  return sizeof(uint32_t) *
         static_cast<uint64_t>(3 * shape.sequence_length + 3 * shape.max_predictions + 1);
}

Result<std::vector<Sample>> read_unpacked_binary(std::span<const std::byte> bytes,
                                                 const RecordShape& shape) {
  CLOZE_CHECK(bytes.size() == unpacked_binary_bytes(shape), "{} bytes", bytes.size());
  Words words(bytes.size() / sizeof(uint32_t));
  std::memcpy(words.data(), bytes.data(), bytes.size());
  const std::vector<int64_t> values(words.begin(), words.end());
  std::span<const int64_t> rest(values);
  const auto take = [&](int64_t count) {
    const auto part = rest.first(static_cast<size_t>(count));
    rest = rest.subspan(static_cast<size_t>(count));
    return part;
  };
  const int64_t S = shape.sequence_length, M = shape.max_predictions;
  PlainRecord record{.input_ids = take(S), .input_mask = take(S), .segment_ids = take(S)};
  record.masked_positions = take(M);
  record.masked_ids = take(M);
  const std::span<const int64_t> weights = take(M);
  const std::vector<float> masked_weights(weights.begin(), weights.end());
  record.masked_weights = masked_weights;
  record.next_sentence_labels = rest;
  Result<Sample> sample = read_plain_record(record, shape);
  if (!sample) return sample.error();
  return std::vector<Sample>{std::move(sample).value()};
}

std::string encode_unpacked_binary(const Sample& sample, const RecordLayout& layout) {
  const int64_t S = layout.sequence_length, M = layout.max_predictions;
  Words words;
  append(sample.input_ids, S, words);
  append(std::vector<int32_t>(sample.input_ids.size(), 1), S, words);
  append(sample.token_type_ids, S, words);
  append(sample.masked_positions, M, words);
  append(sample.masked_labels, M, words);
  append(std::vector<int32_t>(sample.masked_labels.size(), 1), M, words);
  append({sample.next_sentence_label}, 1, words);
  return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof(uint32_t)};
}

}  // namespace cloze::data
