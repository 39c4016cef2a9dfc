#include "record_formats.h"

#include <numeric>
#include <string>
#include <vector>

#include "base/error.h"
#include "data/records/packed_record.h"
#include "data/records/record_encoder.h"
#include "formats/tf_example.h"
#include "formats/tfrecord.h"
#include "platform/files/atomic_file.h"

namespace cloze::tests {
namespace {

using Numbers = std::vector<int32_t>;

// The parts of a packed record, as data/records/packed_record.h names them.
struct Pack {
  Numbers ids, mask, segments, positions;  // [S]
  Numbers labels, weights;                 // [P]: of the slots 0 .. P-1
  Numbers nsp_labels, nsp_weights;         // [3]
};

size_t num_prediction_slots(const RecordSizes& sizes) {
  return static_cast<size_t>(sizes.max_predictions + data::kSequencesPerPack - 1);
}

// Fills the slots of a pack: masked tokens from the front, first tokens at the very end, all others
// between.
class PackBuilder {
 public:
  explicit PackBuilder(const RecordSizes& sizes)
      : S_(static_cast<size_t>(sizes.sequence_length)), P_(num_prediction_slots(sizes)) {
    for (Numbers* part : {&pack_.ids, &pack_.mask, &pack_.segments, &pack_.positions}) {
      part->assign(S_, 0);
    }
    for (Numbers* part : {&pack_.labels, &pack_.weights}) part->assign(P_, 0);
    for (Numbers* part : {&pack_.nsp_labels, &pack_.nsp_weights}) part->assign(kMost, 0);
    other_ = P_;
  }

  bool fits(const data::Sample& sample) const {
    const size_t masked = sample.masked_positions.size();
    return count_ < kMost && masked_ + masked <= P_ &&
           other_ + sample.input_ids.size() - masked - 1 <= S_ - kMost;
  }

  void add(const data::Sample& sample) {
    size_t next_masked = 0;
    for (size_t i = 0; i < sample.input_ids.size(); ++i) {
      const bool is_masked = next_masked < sample.masked_positions.size() &&
                             sample.masked_positions[next_masked] == static_cast<int32_t>(i);
      const size_t slot = i == 0 ? S_ - kMost + count_ : is_masked ? masked_++ : other_++;
      if (is_masked) {
        pack_.labels[slot] = sample.masked_labels[next_masked++];
        pack_.weights[slot] = static_cast<int32_t>(count_ + 1);
      }
      pack_.ids[slot] = sample.input_ids[i];
      pack_.mask[slot] = static_cast<int32_t>(count_ + 1);
      pack_.segments[slot] = sample.token_type_ids[i];
      pack_.positions[slot] = static_cast<int32_t>(i);
    }
    pack_.nsp_labels[count_] = sample.next_sentence_label;
    pack_.nsp_weights[count_] = 1;
    ++count_;
  }

  const Pack& pack() const { return pack_; }

 private:
  static constexpr auto kMost = static_cast<size_t>(data::kSequencesPerPack);
  size_t S_, P_;
  Pack pack_;
  size_t masked_ = 0, other_ = 0, count_ = 0;
};

std::vector<Pack> packs_of(std::span<const data::Sample> samples, const RecordSizes& sizes) {
  std::vector<PackBuilder> builders;
  for (const data::Sample& sample : samples) {
    if (builders.empty() || !builders.back().fits(sample)) builders.emplace_back(sizes);
    CLOZE_CHECK(builders.back().fits(sample), "a sample of {} tokens fits into no pack",
                sample.input_ids.size());
    builders.back().add(sample);
  }
  std::vector<Pack> packs;
  for (const PackBuilder& builder : builders) packs.push_back(builder.pack());
  return packs;
}

std::string binary(const Pack& pack) {
  std::string bytes;
  for (const Numbers* part : {&pack.ids, &pack.mask, &pack.segments, &pack.positions, &pack.labels,
                              &pack.weights, &pack.nsp_labels, &pack.nsp_weights}) {
    bytes.append(reinterpret_cast<const char*>(part->data()), part->size() * sizeof(int32_t));
  }
  return bytes;
}

std::vector<float> floats(const Numbers& numbers) { return {numbers.begin(), numbers.end()}; }

std::string example(const Pack& pack) {
  Numbers slots(pack.labels.size());
  std::iota(slots.begin(), slots.end(), 0);
  formats::TfExample example;
  example.add_integers("packed_input_ids", pack.ids);
  example.add_integers("packed_input_mask", pack.mask);
  example.add_integers("packed_segment_ids", pack.segments);
  example.add_integers("packed_position_ids", pack.positions);
  example.add_integers("packed_masked_lm_positions", slots);
  example.add_integers("packed_masked_lm_ids", pack.labels);
  example.add_floats("packed_masked_lm_mask", floats(pack.weights));
  example.add_integers("packed_next_sentence_labels", pack.nsp_labels);
  example.add_floats("packed_next_sentence_mask", floats(pack.nsp_weights));
  return example.serialize();
}

std::string tfrecord(const std::string& payload) {
  return formats::tfrecord_bytes(std::as_bytes(std::span(payload)));
}

}  // namespace

std::string_view name_of(RecordFormat format) {
  switch (format) {
    case RecordFormat::kPlain:
      return "plain";
    case RecordFormat::kRemasked:
      return "remasked";
    case RecordFormat::kPackedTfRecord:
      return "packed_tfrecord";
    case RecordFormat::kPackedBinary:
      return "packed_binary";
    case RecordFormat::kUnpackedBinary:
      return "unpacked_binary";
  }
  return "";
}

void write_records(const std::filesystem::path& path, std::span<const data::Sample> samples,
                   RecordFormat format, const RecordSizes& sizes) {
  std::string bytes;
  switch (format) {
    case RecordFormat::kPlain:
    case RecordFormat::kRemasked:
    case RecordFormat::kUnpackedBinary: {
      const data::RecordLayout layout{.sequence_length = sizes.sequence_length,
                                      .max_predictions = sizes.max_predictions,
                                      .remask = format == RecordFormat::kRemasked,
                                      .binary = format == RecordFormat::kUnpackedBinary};
      for (const data::Sample& sample : samples) {
        const std::string record = data::encode_record(sample, layout);
        bytes += layout.binary ? record : tfrecord(record);
      }
      break;
    }
    case RecordFormat::kPackedTfRecord:
      for (const Pack& pack : packs_of(samples, sizes)) bytes += tfrecord(example(pack));
      break;
    case RecordFormat::kPackedBinary:
      for (const Pack& pack : packs_of(samples, sizes)) bytes += binary(pack);
      break;
  }
  platform::write_file_atomically(path, bytes);
}

}  // namespace cloze::tests
