#include "data/records/packed_record.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string_view>

#include "base/error.h"
#include "data/records/bad_record.h"

namespace cloze::data {
namespace {

constexpr std::string_view kInputIds = "packed_input_ids";
constexpr std::string_view kInputMask = "packed_input_mask";
constexpr std::string_view kSegmentIds = "packed_segment_ids";
constexpr std::string_view kPositionIds = "packed_position_ids";
constexpr std::string_view kMaskedPositions = "packed_masked_lm_positions";
constexpr std::string_view kMaskedIds = "packed_masked_lm_ids";
constexpr std::string_view kMaskedMask = "packed_masked_lm_mask";
constexpr std::string_view kNextSentenceLabels = "packed_next_sentence_labels";
constexpr std::string_view kNextSentenceMask = "packed_next_sentence_mask";

using Values = std::vector<int64_t>;

// Either form, as the header names its parts.
struct Pack {
  Values ids, mask, segments, positions;  // [S]
  Values slots, labels, weights;          // [P]
  Values nsp_labels, nsp_weights;         // [3]
};

int64_t num_slots(const RecordShape& shape) {
  return shape.max_predictions + kSequencesPerPack - 1;
}

Values integers_of(const formats::TfExample& example, std::string_view name) {
  const auto values = integers(example, name);
  return {values.begin(), values.end()};
}

Values weights(const formats::TfExample& example, std::string_view name) {
  const auto values = example.floats(name);
  if (!values) refuse("feature {} is missing or holds no floats", name);
  return {values->begin(), values->end()};
}

Pack pack_of(const formats::TfExample& example) {
  return {.ids = integers_of(example, kInputIds),
          .mask = integers_of(example, kInputMask),
          .segments = integers_of(example, kSegmentIds),
          .positions = integers_of(example, kPositionIds),
          .slots = integers_of(example, kMaskedPositions),
          .labels = integers_of(example, kMaskedIds),
          .weights = weights(example, kMaskedMask),
          .nsp_labels = integers_of(example, kNextSentenceLabels),
          .nsp_weights = weights(example, kNextSentenceMask)};
}

Pack pack_of(std::span<const std::byte> bytes, const RecordShape& shape) {
  const auto take = [&](int64_t count) {
    Values values;
    for (int64_t i = 0; i < count; ++i) {
      uint32_t word;
      std::memcpy(&word, bytes.data(), sizeof word);
      bytes = bytes.subspan(sizeof word);
      values.push_back(word);
    }
    return values;
  };
  const int64_t S = shape.sequence_length;
  const int64_t P = num_slots(shape);
  Pack pack;
  for (Values* values : {&pack.ids, &pack.mask, &pack.segments, &pack.positions}) *values = take(S);
  for (Values* values : {&pack.labels, &pack.weights}) *values = take(P);
  for (Values* values : {&pack.nsp_labels, &pack.nsp_weights}) *values = take(kSequencesPerPack);
  pack.slots.resize(pack.labels.size());
  std::iota(pack.slots.begin(), pack.slots.end(), 0);
  return pack;
}

class Unpacker {
 public:
  Unpacker(const Pack& pack, const RecordShape& shape) : pack_(pack), shape_(shape) {}

  std::vector<Sample> unpack() {
    check_sizes();
    int32_t count = 0;
    for (const int64_t number : pack_.mask) {
      count = std::max(count, in_range(kInputMask, number, kSequencesPerPack + 1));
    }
    if (count < 1) refuse("{} marks no token", kInputMask);
    samples_.resize(static_cast<size_t>(count));
    read_slots();
    for (int64_t k = 1; k <= count; ++k) samples_[k - 1] = sample_of(k);
    read_next_sentence_labels();
    return std::move(samples_);
  }

 private:
  static void expect_size(std::string_view name, const Values& values, size_t size,
                          std::string_view decided_by) {
    if (values.size() != size) {
      refuse("{} has {} entries, {} {}", name, values.size(), decided_by, size);
    }
  }

  void check_sizes() const {
    const size_t S = pack_.ids.size();
    const size_t P = pack_.slots.size();
    if (shape_.sequence_length > 0) {
      expect_size(kInputIds, pack_.ids, shape_.sequence_length,
                  "the configuration's seq_length is");
    }
    if (shape_.max_predictions > 0) {
      expect_size(kMaskedPositions, pack_.slots, num_slots(shape_),
                  "the configuration's max_predictions_per_seq and the packing make");
    }
    if (S == 0) refuse("{} is empty", kInputIds);
    expect_size(kInputMask, pack_.mask, S, "packed_input_ids has");
    expect_size(kSegmentIds, pack_.segments, S, "packed_input_ids has");
    expect_size(kPositionIds, pack_.positions, S, "packed_input_ids has");
    expect_size(kMaskedIds, pack_.labels, P, "packed_masked_lm_positions has");
    expect_size(kMaskedMask, pack_.weights, P, "packed_masked_lm_positions has");
    expect_size(kNextSentenceLabels, pack_.nsp_labels, kSequencesPerPack, "it must have");
    expect_size(kNextSentenceMask, pack_.nsp_weights, kSequencesPerPack, "it must have");
  }

  // The label of each slot, -1 where there is none.
  void read_slots() {
    label_of_slot_.assign(pack_.ids.size(), -1);
    for (size_t i = 0; i < pack_.slots.size(); ++i) {
      if (pack_.weights[i] == 0) continue;
      const int32_t slot = in_range(kMaskedPositions, pack_.slots[i], std::ssize(pack_.ids));
      if (pack_.mask[slot] == 0)
        refuse("{} names slot {}, which is unused", kMaskedPositions, slot);
      if (label_of_slot_[slot] >= 0) refuse("slot {} is masked twice", slot);
      label_of_slot_[slot] = token(kMaskedIds, pack_.labels[i]);
    }
  }

  int32_t token(std::string_view name, int64_t id) const {
    return in_range(name, id, id_bound(shape_.vocabulary_size));
  }

  Sample sample_of(int64_t k) const {
    std::vector<std::pair<int64_t, size_t>> order;  // position, slot
    for (size_t slot = 0; slot < pack_.mask.size(); ++slot) {
      if (pack_.mask[slot] == k) order.emplace_back(pack_.positions[slot], slot);
    }
    if (order.empty()) refuse("{} marks no token of sequence {}", kInputMask, k);
    std::sort(order.begin(), order.end());
    Sample sample;
    for (const auto& [position, slot] : order) {
      const auto place = static_cast<int32_t>(sample.input_ids.size());
      if (position != place) {
        refuse("{} of sequence {} holds {} where {} is expected", kPositionIds, k, position, place);
      }
      sample.input_ids.push_back(token(kInputIds, pack_.ids[slot]));
      sample.token_type_ids.push_back(in_range(kSegmentIds, pack_.segments[slot], 2));
      if (label_of_slot_[slot] < 0) continue;
      sample.masked_positions.push_back(place);
      sample.masked_labels.push_back(label_of_slot_[slot]);
    }
    return sample;
  }

  // Label i belongs to the sequence whose first token is in slot S - 3 + i.
  void read_next_sentence_labels() {
    size_t num_labels = 0;
    for (int64_t i = 0; i < kSequencesPerPack; ++i) {
      if (pack_.nsp_weights[i] == 0) continue;
      const int64_t slot = std::ssize(pack_.ids) - kSequencesPerPack + i;
      if (slot < 0 || pack_.mask[slot] == 0 || pack_.positions[slot] != 0) {
        refuse("slot {} should hold the first token of a sequence, for {}", slot,
               kNextSentenceLabels);
      }
      samples_[pack_.mask[slot] - 1].next_sentence_label =
          in_range(kNextSentenceLabels, pack_.nsp_labels[i], 2);
      ++num_labels;
    }
    if (num_labels != samples_.size()) {
      refuse("{} sequences, but {} labels in {}", samples_.size(), num_labels, kNextSentenceLabels);
    }
  }

  const Pack& pack_;
  const RecordShape& shape_;
  std::vector<int32_t> label_of_slot_;
  std::vector<Sample> samples_;
};

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
    if (sample.masked_positions[i] == 0) {
      throw_data_error(
          "a record has its first token masked, which a pack has no slot for; make the records "
          "again");
    }
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

bool is_packed(const formats::TfExample& example) {
  return example.integers(kInputIds).has_value();
}

Result<std::vector<Sample>> read_packed_record(const formats::TfExample& example,
                                               const RecordShape& shape) {
  return decoded([&] {
    const Pack pack = pack_of(example);
    return Unpacker(pack, shape).unpack();
  });
}

uint64_t packed_binary_bytes(const RecordShape& shape) {
  return sizeof(uint32_t) * static_cast<uint64_t>(4 * shape.sequence_length + 2 * num_slots(shape) +
                                                  2 * kSequencesPerPack);
}

Result<std::vector<Sample>> read_packed_binary(std::span<const std::byte> bytes,
                                               const RecordShape& shape) {
  CLOZE_CHECK(bytes.size() == packed_binary_bytes(shape), "{} bytes", bytes.size());
  return decoded([&] {
    const Pack pack = pack_of(bytes, shape);
    return Unpacker(pack, shape).unpack();
  });
}

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
          "{} sequences have more predictions than the {} of a pack; lower pack_tokens, or pack "
          "samples with a larger max_predictions_per_seq than {}",
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
