#include "data/records/record_encoder.h"

#include "base/error.h"
#include "data/records/record_features.h"
#include "data/records/unpacked_binary.h"
#include "formats/tf_example.h"

namespace cloze::data {
namespace {

using Ids = std::vector<int32_t>;

Ids padded(Ids values, int64_t size, int32_t pad = 0) {
  CLOZE_CHECK(static_cast<int64_t>(values.size()) <= size, "{} values for {} places", values.size(),
              size);
  values.resize(static_cast<size_t>(size), pad);
  return values;
}

// What both layouts say about the predictions and the sentence pair.
void add_labels(const Sample& sample, const RecordLayout& layout, formats::TfExample& example) {
  std::vector<float> weights(sample.masked_labels.size(), 1.0f);
  weights.resize(static_cast<size_t>(layout.max_predictions), 0.0f);
  example.add_integers(feature::kMaskedIds, padded(sample.masked_labels, layout.max_predictions));
  example.add_floats(feature::kMaskedWeights, weights);
  example.add_integers(feature::kNextSentenceLabels, Ids{sample.next_sentence_label});
}

std::string encode_plain(const Sample& sample, const RecordLayout& layout) {
  const int64_t S = layout.sequence_length;
  formats::TfExample example;
  example.add_integers(feature::kInputIds, padded(sample.input_ids, S));
  example.add_integers(feature::kInputMask, padded(Ids(sample.input_ids.size(), 1), S));
  example.add_integers(feature::kSegmentIds, padded(sample.token_type_ids, S));
  example.add_integers(feature::kMaskedPositions,
                       padded(sample.masked_positions, layout.max_predictions));
  add_labels(sample, layout, example);
  return example.serialize();
}

// The text index of each slot: masked tokens from slot 0, the others from slot M, -1 elsewhere.
Ids slot_order(const Sample& sample, int64_t max_predictions) {
  Ids order = padded(sample.masked_positions, max_predictions, -1);
  size_t next_masked = 0;
  for (int32_t position = 0; position < static_cast<int32_t>(sample.input_ids.size()); ++position) {
    if (next_masked < sample.masked_positions.size() &&
        sample.masked_positions[next_masked] == position) {
      ++next_masked;
    } else {
      order.push_back(position);
    }
  }
  return order;
}

std::string encode_remasked(const Sample& sample, const RecordLayout& layout) {
  const Ids order = slot_order(sample, layout.max_predictions);
  Ids ids, positions, segments;
  for (int32_t position : order) {
    const auto p = static_cast<size_t>(position);
    ids.push_back(position < 0 ? 0 : sample.input_ids[p]);
    segments.push_back(position < 0 ? 0 : sample.token_type_ids[p]);
    positions.push_back(position < 0 ? static_cast<int32_t>(layout.pad_position_value) : position);
  }
  const int64_t S = layout.sequence_length;
  formats::TfExample example;
  example.add_integers(feature::kInputIds, padded(ids, S));
  example.add_integers(feature::kInputPosition,
                       padded(positions, S, static_cast<int32_t>(layout.pad_position_value)));
  example.add_integers(feature::kSegmentIds, padded(segments, S));
  example.add_integers(feature::kMaskPaddingIndex,
                       Ids{static_cast<int32_t>(sample.masked_positions.size())});
  example.add_integers(feature::kSequencePaddingIndex, Ids{static_cast<int32_t>(order.size())});
  example.add_integers(feature::kMaskedPositions, sample.masked_positions);
  example.add_integers(feature::kMaskedLabels,
                       padded(sample.masked_labels, layout.max_predictions));
  add_labels(sample, layout, example);
  return example.serialize();
}

}  // namespace

std::string encode_record(const Sample& sample, const RecordLayout& layout) {
  if (layout.binary) return encode_unpacked_binary(sample, layout);
  return layout.remask ? encode_remasked(sample, layout) : encode_plain(sample, layout);
}

}  // namespace cloze::data
