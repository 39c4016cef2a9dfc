#include "data/records/record_reader.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "data/records/bad_record.h"
#include "data/records/record_features.h"

namespace cloze::data {
namespace {

using Integers = std::span<const int64_t>;

// Lengths and ranges, against what the configuration expects.
class RecordChecker {
 public:
  explicit RecordChecker(const RecordShape& shape) : shape_(shape) {}

  // A feature whose length the configuration (expected > 0) or another feature decides.
  static void expect_size(std::string_view name, size_t size, int64_t expected,
                          std::string_view decided_by) {
    if (expected > 0 && static_cast<int64_t>(size) != expected) {
      refuse("{} has {} entries, {} {}", name, size, decided_by, expected);
    }
  }
  void expect_sequence(std::string_view name, size_t size) const {
    expect_size(name, size, shape_.sequence_length, "the configuration's seq_length is");
  }
  void expect_predictions(std::string_view name, size_t size) const {
    expect_size(name, size, shape_.max_predictions,
                "the configuration's max_predictions_per_seq is");
  }
  static int32_t single(std::string_view name, Integers values, int64_t end) {
    expect_size(name, values.size(), 1, "it must have");
    return in_range(name, values.front(), end);
  }
  int32_t token(std::string_view name, int64_t value) const {
    return in_range(name, value, id_bound(shape_.vocabulary_size));
  }
  void append_token(int64_t id, int64_t segment, Sample& sample) const {
    sample.input_ids.push_back(token(feature::kInputIds, id));
    sample.token_type_ids.push_back(in_range(feature::kSegmentIds, segment, 2));
  }
  static void append_prediction(int32_t position, int32_t label, Sample& sample) {
    if (!sample.masked_positions.empty() && sample.masked_positions.back() == position) {
      refuse("position {} is masked twice", position);
    }
    sample.masked_positions.push_back(position);
    sample.masked_labels.push_back(label);
  }

 private:
  const RecordShape& shape_;
};

class PlainDecoder {
 public:
  PlainDecoder(const PlainRecord& record, const RecordShape& shape)
      : record_(record), check_(shape) {}

  Sample decode() const {
    const int64_t length = checked_length();
    Sample sample;
    for (int64_t i = 0; i < length; ++i) {
      check_.append_token(record_.input_ids[i], record_.segment_ids[i], sample);
    }
    decode_predictions(length, sample);
    sample.next_sentence_label =
        check_.single(feature::kNextSentenceLabels, record_.next_sentence_labels, 2);
    return sample;
  }

 private:
  int64_t checked_length() const {
    const Integers mask = record_.input_mask;
    check_.expect_sequence(feature::kInputIds, record_.input_ids.size());
    const int64_t S = std::ssize(record_.input_ids);
    if (S == 0) refuse("input_ids is empty");
    check_.expect_size(feature::kInputMask, mask.size(), S, "input_ids has");
    check_.expect_size(feature::kSegmentIds, record_.segment_ids.size(), S, "input_ids has");
    const auto end = std::find(mask.begin(), mask.end(), 0);
    if (end == mask.begin()) refuse("input_mask marks no token");
    if (std::any_of(end, mask.end(), [](int64_t value) { return value != 0; })) {
      refuse("input_mask has a gap at {}", end - mask.begin());
    }
    return end - mask.begin();
  }

  void decode_predictions(int64_t length, Sample& sample) const {
    const Integers positions = record_.masked_positions;
    const Integers labels = record_.masked_ids;
    check_.expect_predictions(feature::kMaskedPositions, positions.size());
    if (labels.size() != positions.size()) {
      refuse("masked_lm_ids has {} entries, masked_lm_positions has {}", labels.size(),
             positions.size());
    }
    if (record_.masked_weights.size() != labels.size()) {
      refuse("masked_lm_weights is missing or does not have {} entries", positions.size());
    }
    std::vector<std::pair<int32_t, int32_t>> predictions;
    for (size_t i = 0; i < labels.size(); ++i) {
      const float weight = record_.masked_weights[i];
      if (weight == 0.0f) continue;
      if (weight != 1.0f) refuse("masked_lm_weights holds {}, not 0 or 1", weight);
      predictions.emplace_back(in_range(feature::kMaskedPositions, positions[i], length),
                               check_.token(feature::kMaskedIds, labels[i]));
    }
    std::sort(predictions.begin(), predictions.end());
    for (const auto& [position, label] : predictions) {
      check_.append_prediction(position, label, sample);
    }
  }

  PlainRecord record_;
  RecordChecker check_;
};

class RemaskedDecoder {
 public:
  RemaskedDecoder(const formats::TfExample& example, const RecordShape& shape)
      : example_(example), check_(shape) {}

  // Text indices may have gaps: Graphcore's program drops tokens replaced by [PAD]. They are
  // closed.
  Sample decode() const {
    const Integers ids = integers(example_, feature::kInputIds);
    check_.expect_sequence(feature::kInputIds, ids.size());
    const int64_t S = std::ssize(ids);
    const Integers segments = sized(feature::kSegmentIds, S);
    const Integers labels = integers(example_, feature::kMaskedLabels);
    check_.expect_predictions(feature::kMaskedLabels, labels.size());
    const int64_t M = std::ssize(labels);
    if (M > S) refuse("masked_labels has {} entries, input_ids only {}", M, S);
    Sample sample;
    for (const auto& [position, slot] : text_order(S, M)) {
      if (slot < M) {
        check_.append_prediction(static_cast<int32_t>(sample.input_ids.size()),
                                 check_.token(feature::kMaskedLabels, labels[slot]), sample);
      }
      check_.append_token(ids[slot], segments[slot], sample);
    }
    sample.next_sentence_label = check_.single(feature::kNextSentenceLabels,
                                               integers(example_, feature::kNextSentenceLabels), 2);
    return sample;
  }

 private:
  Integers sized(std::string_view name, int64_t S) const {
    const Integers values = integers(example_, name);
    check_.expect_size(name, values.size(), S, "input_ids has");
    return values;
  }
  int32_t single(std::string_view name, int64_t end) const {
    return check_.single(name, integers(example_, name), end);
  }

  // The slots that hold tokens, as (index in the text, slot), in text order.
  std::vector<std::pair<int32_t, int64_t>> text_order(int64_t S, int64_t M) const {
    const Integers positions = sized(feature::kInputPosition, S);
    const int32_t masked_end = single(feature::kMaskPaddingIndex, M + 1);
    const int32_t end = single(feature::kSequencePaddingIndex, S + 1);
    std::vector<std::pair<int32_t, int64_t>> order;
    for (int64_t slot = 0; slot < end; ++slot) {
      if (slot >= masked_end && slot < M) continue;
      order.emplace_back(in_range(feature::kInputPosition, positions[slot], S), slot);
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

  const formats::TfExample& example_;
  RecordChecker check_;
};

PlainRecord plain_record_of(const formats::TfExample& example) {
  return {
      .input_ids = integers(example, feature::kInputIds),
      .input_mask = integers(example, feature::kInputMask),
      .segment_ids = integers(example, feature::kSegmentIds),
      .masked_positions = integers(example, feature::kMaskedPositions),
      .masked_ids = integers(example, feature::kMaskedIds),
      .masked_weights = example.floats(feature::kMaskedWeights).value_or(std::span<const float>()),
      .next_sentence_labels = integers(example, feature::kNextSentenceLabels)};
}

}  // namespace

Result<Sample> read_plain_record(const PlainRecord& record, const RecordShape& shape) {
  return decoded([&] { return PlainDecoder(record, shape).decode(); });
}

Result<Sample> read_record(const formats::TfExample& example, const RecordShape& shape) {
  return decoded([&] {
    const bool remasked = example.integers(feature::kMaskPaddingIndex).has_value();
    if (shape.static_mask && *shape.static_mask != remasked) {
      refuse("the record is {}, the configuration says static_mask {}; change static_mask",
             remasked ? "re-masked" : "plain", *shape.static_mask);
    }
    return remasked ? RemaskedDecoder(example, shape).decode()
                    : PlainDecoder(plain_record_of(example), shape).decode();
  });
}

}  // namespace cloze::data
