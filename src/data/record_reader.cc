#include "data/record_reader.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "data/record_features.h"
#include "formats/tf_example.h"

namespace cloze::data {
namespace {

using Integers = std::span<const int64_t>;

// Thrown and caught inside read_record only: a record has some twenty ways to be wrong.
struct BadRecord {
  std::string message;
};

template <typename... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  throw BadRecord{fmt::format(format, std::forward<Args>(args)...)};
}

int32_t in_range(std::string_view name, int64_t value, int64_t end) {
  if (value < 0 || value >= end) refuse("{} holds {}; it must be in [0, {})", name, value, end);
  return static_cast<int32_t>(value);
}

class RecordDecoder {
 public:
  RecordDecoder(const formats::TfExample& example, const RecordShape& shape)
      : example_(example), shape_(shape) {}

  Sample decode() {
    const bool remasked = is_remasked();
    Sample sample = remasked ? decode_remasked() : decode_plain();
    sample.next_sentence_label = single(feature::kNextSentenceLabels, 2);
    return sample;
  }

 private:
  bool is_remasked() const {
    const bool remasked = example_.integers(feature::kMaskPaddingIndex).has_value();
    if (shape_.static_mask && *shape_.static_mask != remasked) {
      refuse("the record is {}, the configuration says static_mask {}; change static_mask",
             remasked ? "re-masked" : "plain", *shape_.static_mask);
    }
    return remasked;
  }

  Integers integers(std::string_view name) const {
    const auto values = example_.integers(name);
    if (!values) refuse("feature {} is missing or holds no integers", name);
    return *values;
  }

  // A feature whose length the configuration (expected > 0) or another feature decides.
  Integers sized(std::string_view name, int64_t expected, std::string_view decided_by) const {
    const Integers values = integers(name);
    const auto size = static_cast<int64_t>(values.size());
    if (expected > 0 && size != expected) {
      refuse("{} has {} entries, {} {}", name, size, decided_by, expected);
    }
    return values;
  }
  Integers of_sequence(std::string_view name) const {
    return sized(name, shape_.sequence_length, "the configuration's seq_length is");
  }
  Integers of_predictions(std::string_view name) const {
    return sized(name, shape_.max_predictions, "the configuration's max_predictions_per_seq is");
  }
  int32_t single(std::string_view name, int64_t end) const {
    return in_range(name, sized(name, 1, "it must have").front(), end);
  }
  int32_t token(std::string_view name, int64_t value) const {
    const int64_t largest = int64_t{1} << 31;
    return in_range(name, value, shape_.vocabulary_size > 0 ? shape_.vocabulary_size : largest);
  }

  void append_token(Integers ids, Integers segments, size_t slot, Sample& sample) const {
    sample.input_ids.push_back(token(feature::kInputIds, ids[slot]));
    sample.token_type_ids.push_back(in_range(feature::kSegmentIds, segments[slot], 2));
  }

  Sample decode_plain() const {
    const Integers ids = of_sequence(feature::kInputIds);
    const auto S = static_cast<int64_t>(ids.size());
    const Integers mask = sized(feature::kInputMask, S, "input_ids has");
    const Integers segments = sized(feature::kSegmentIds, S, "input_ids has");
    const auto end = static_cast<size_t>(std::find(mask.begin(), mask.end(), 0) - mask.begin());
    if (end == 0) refuse("input_mask marks no token");
    if (std::any_of(mask.begin() + static_cast<int64_t>(end), mask.end(),
                    [](int64_t value) { return value != 0; })) {
      refuse("input_mask has a gap at {}", end);
    }
    Sample sample;
    for (size_t i = 0; i < end; ++i) append_token(ids, segments, i, sample);
    decode_predictions(static_cast<int64_t>(end), sample);
    return sample;
  }

  void decode_predictions(int64_t length, Sample& sample) const {
    const Integers positions = of_predictions(feature::kMaskedPositions);
    const auto M = static_cast<int64_t>(positions.size());
    const Integers labels = sized(feature::kMaskedIds, M, "masked_lm_positions has");
    const auto weights = example_.floats(feature::kMaskedWeights);
    if (!weights || weights->size() != labels.size()) {
      refuse("masked_lm_weights is missing or has not {} entries", M);
    }
    std::vector<std::pair<int32_t, int32_t>> predictions;
    for (size_t i = 0; i < labels.size(); ++i) {
      if ((*weights)[i] == 0.0f) continue;
      if ((*weights)[i] != 1.0f) refuse("masked_lm_weights holds {}, not 0 or 1", (*weights)[i]);
      predictions.emplace_back(in_range(feature::kMaskedPositions, positions[i], length),
                               token(feature::kMaskedIds, labels[i]));
    }
    std::sort(predictions.begin(), predictions.end());
    for (const auto& [position, label] : predictions) append_prediction(position, label, sample);
  }

  static void append_prediction(int32_t position, int32_t label, Sample& sample) {
    if (!sample.masked_positions.empty() && sample.masked_positions.back() == position) {
      refuse("position {} is masked twice", position);
    }
    sample.masked_positions.push_back(position);
    sample.masked_labels.push_back(label);
  }

  // The slots that hold tokens, as (index in the text, slot), in text order.
  std::vector<std::pair<int32_t, size_t>> text_order(int64_t S, int64_t M) const {
    const Integers positions = sized(feature::kInputPosition, S, "input_ids has");
    const int32_t masked_end = single(feature::kMaskPaddingIndex, M + 1);
    const int32_t end = single(feature::kSequencePaddingIndex, S + 1);
    std::vector<std::pair<int32_t, size_t>> order;
    for (int64_t slot = 0; slot < end; ++slot) {
      if (slot >= masked_end && slot < M) continue;
      const auto s = static_cast<size_t>(slot);
      order.emplace_back(in_range(feature::kInputPosition, positions[s], S), s);
    }
    if (order.empty()) refuse("seq_padding_index marks no token");
    std::sort(order.begin(), order.end());
    for (size_t i = 1; i < order.size(); ++i) {
      if (order[i].first == order[i - 1].first) {
        refuse("input_position holds {} twice", order[i].first);
      }
    }
    return order;
  }

  // Text indices may have gaps: Graphcore's program drops tokens replaced by [PAD]. They are
  // closed.
  Sample decode_remasked() const {
    const Integers ids = of_sequence(feature::kInputIds);
    const auto S = static_cast<int64_t>(ids.size());
    const Integers segments = sized(feature::kSegmentIds, S, "input_ids has");
    const Integers labels = of_predictions(feature::kMaskedLabels);
    const auto M = static_cast<int64_t>(labels.size());
    if (M > S) refuse("masked_labels has {} entries, input_ids only {}", M, S);
    Sample sample;
    for (const auto& [position, slot] : text_order(S, M)) {
      if (static_cast<int64_t>(slot) < M) {
        append_prediction(static_cast<int32_t>(sample.input_ids.size()),
                          token(feature::kMaskedLabels, labels[slot]), sample);
      }
      append_token(ids, segments, slot, sample);
    }
    return sample;
  }

  const formats::TfExample& example_;
  const RecordShape& shape_;
};

}  // namespace

Result<Sample> read_record(std::span<const std::byte> payload, const RecordShape& shape) {
  const auto example = formats::TfExample::parse(payload);
  if (!example) return example.error();
  try {
    return RecordDecoder(*example, shape).decode();
  } catch (const BadRecord& bad) {
    return ParseError{bad.message, 0};
  }
}

}  // namespace cloze::data
