// For tests: packs in Graphcore's binary form (packed_record.h), which nothing here writes
// otherwise.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/records/packed_record.h"

namespace cloze::data {

// One pack of up to three samples: masked tokens in front, first tokens at the very end.
inline std::string packed_bytes(std::span<const Sample> samples, const RecordShape& shape) {
  const auto S = static_cast<size_t>(shape.sequence_length);
  const auto P = static_cast<size_t>(shape.max_predictions + kSequencesPerPack - 1);
  std::vector<uint32_t> ids(S), mask(S), segments(S), positions(S), labels(P), weights(P),
      nsp_labels(3), nsp_weights(3);
  size_t masked = 0, other = P, last = S - samples.size();
  for (size_t k = 0; k < samples.size(); ++k) {
    const Sample& sample = samples[k];
    for (size_t i = 0; i < sample.input_ids.size(); ++i) {
      const auto found =
          std::find(sample.masked_positions.begin(), sample.masked_positions.end(), i);
      const bool is_masked = found != sample.masked_positions.end();
      const size_t slot = i == 0 ? last++ : is_masked ? masked++ : other++;
      if (is_masked) {
        labels[slot] = sample.masked_labels[found - sample.masked_positions.begin()];
        weights[slot] = static_cast<uint32_t>(k + 1);
      }
      ids[slot] = sample.input_ids[i];
      mask[slot] = static_cast<uint32_t>(k + 1);
      segments[slot] = sample.token_type_ids[i];
      positions[slot] = static_cast<uint32_t>(i);
    }
    nsp_labels[3 - samples.size() + k] = sample.next_sentence_label;
    nsp_weights[3 - samples.size() + k] = 1;
  }
  std::string bytes;
  for (const auto* part :
       {&ids, &mask, &segments, &positions, &labels, &weights, &nsp_labels, &nsp_weights}) {
    bytes.append(reinterpret_cast<const char*>(part->data()), part->size() * sizeof(uint32_t));
  }
  return bytes;
}

}  // namespace cloze::data
