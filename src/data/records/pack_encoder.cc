#include "data/records/pack_encoder.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/error.h"
#include "data/records/packed_record.h"

namespace cloze::data {
namespace {

using Words = std::vector<uint32_t>;

// A token and the slots' order: masked, others, first ones.
struct Slot {
  uint32_t id = 0, mask = 0, segment = 0, position = 0;
  int rank = 0;
  uint32_t label = 0;
};
constexpr int kMasked = 0, kOther = 1, kUnused = 2, kFirst = 3;

void append_slots(const Sample& sample, uint32_t number, std::vector<Slot>& slots) {
  for (size_t i = 0; i < sample.input_ids.size(); ++i) {
    slots.push_back({.id = static_cast<uint32_t>(sample.input_ids[i]),
                     .mask = number,
                     .segment = static_cast<uint32_t>(sample.token_type_ids[i]),
                     .position = static_cast<uint32_t>(i),
                     .rank = i == 0 ? kFirst : kOther});
  }
  const size_t begin = slots.size() - sample.input_ids.size();
  for (size_t i = 0; i < sample.masked_positions.size(); ++i) {
    CLOZE_CHECK(sample.masked_positions[i] > 0, "the first token is masked");
    Slot& slot = slots[begin + static_cast<size_t>(sample.masked_positions[i])];
    slot.rank = kMasked;
    slot.label = static_cast<uint32_t>(sample.masked_labels[i]);
  }
}

std::vector<Slot> slots_of(std::span<const Sample> samples, size_t size) {
  std::vector<Slot> slots;
  for (size_t k = 0; k < samples.size(); ++k) {
    append_slots(samples[k], static_cast<uint32_t>(k + 1), slots);
  }
  if (slots.size() > size) {
    throw_user_error("{} sequences with {} tokens do not fit a pack of {}; raise pack_tokens",
                     samples.size(), slots.size(), size);
  }
  slots.resize(size, {.rank = kUnused});
  std::ranges::stable_sort(slots, {}, &Slot::rank);
  return slots;
}

}  // namespace

std::string encode_pack(std::span<const Sample> samples, const RecordShape& shape) {
  constexpr auto kMost = static_cast<size_t>(kSequencesPerPack);
  CLOZE_CHECK(!samples.empty() && samples.size() <= kMost, "{} samples", samples.size());
  const std::vector<Slot> slots = slots_of(samples, static_cast<size_t>(shape.sequence_length));
  Words words;
  for (const auto part : {&Slot::id, &Slot::mask, &Slot::segment, &Slot::position}) {
    for (const Slot& slot : slots) words.push_back(slot.*part);
  }
  const size_t room = static_cast<size_t>(shape.max_predictions) + kMost - 1;
  Words labels(room), weights(room), nsp_labels(kMost), nsp_weights(kMost);
  for (size_t i = 0; i < slots.size() && slots[i].rank == kMasked; ++i) {
    if (i == room) {
      throw_user_error(
          "{} sequences have more predictions than the {} of a pack; raise "
          "max_predictions_per_seq {}",
          samples.size(), room, shape.max_predictions);
    }
    labels[i] = slots[i].label;
    weights[i] = slots[i].mask;
  }
  for (size_t k = 0; k < samples.size(); ++k) {
    const size_t place = kMost - samples.size() + k;
    nsp_labels[place] = static_cast<uint32_t>(samples[k].next_sentence_label);
    nsp_weights[place] = 1;
  }
  for (const Words* part : {&labels, &weights, &nsp_labels, &nsp_weights}) {
    words.insert(words.end(), part->begin(), part->end());
  }
  return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof(uint32_t)};
}

}  // namespace cloze::data
