#include "data/records/record_encoder.h"

#include <algorithm>
#include <optional>

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

// Adds what both layouts say about the predictions and the sentence pair.
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

// Tokens [begin, end) of one part, without [CLS] and [SEP].
struct Part {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const { return end - begin; }
};

struct Parts {
  Part first;
  Part second;
};

Parts parts_of(const Sample& sample) {
  const auto& types = sample.token_type_ids;
  const int64_t border = std::ranges::find(types, 1) - types.begin();
  const Part first{1, border - 1};
  return {first, {border, std::max(border, std::ssize(types) - 1)}};
}

bool is_masked(const Sample& sample, int64_t position) {
  return std::ranges::binary_search(sample.masked_positions, static_cast<int32_t>(position));
}

std::optional<int64_t> last_unmasked(const Sample& sample, const Part& part) {
  for (int64_t position = part.end - 1; position >= part.begin; --position) {
    if (!is_masked(sample, position)) return position;
  }
  return std::nullopt;
}

void take_out(int64_t position, Sample& sample) {
  sample.input_ids.erase(sample.input_ids.begin() + position);
  sample.token_type_ids.erase(sample.token_type_ids.begin() + position);
  for (int32_t& masked : sample.masked_positions) masked -= masked > position ? 1 : 0;
}

}  // namespace

std::string encode_record(const Sample& sample, const RecordLayout& layout) {
  if (layout.binary) return encode_unpacked_binary(sample, layout);
  return layout.remask ? encode_remasked(sample, layout) : encode_plain(sample, layout);
}

int64_t slots_of(const Sample& sample, const RecordLayout& layout) {
  return layout.max_predictions + std::ssize(sample.input_ids) -
         std::ssize(sample.masked_positions);
}

int64_t make_slot_room(const RecordLayout& layout, Sample& sample) {
  int64_t taken = 0;
  for (; slots_of(sample, layout) > layout.sequence_length; ++taken) {
    auto [longer, shorter] = parts_of(sample);
    if (longer.size() < shorter.size()) std::swap(longer, shorter);
    auto position = last_unmasked(sample, longer);
    if (!position) position = last_unmasked(sample, shorter);
    if (!position) break;
    take_out(*position, sample);
  }
  return taken;
}

}  // namespace cloze::data
