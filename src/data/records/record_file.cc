#include "data/records/record_file.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "base/division.h"
#include "base/error.h"
#include "data/records/hdf5_record_file.h"
#include "data/records/packed_record.h"
#include "data/records/unpacked_binary.h"
#include "formats/decompression.h"
#include "formats/tf_example.h"
#include "formats/tfrecord.h"
#include "platform/files/file.h"
#include "platform/parallel_for.h"

namespace cloze::data {
namespace {

constexpr std::string_view kHdf5Signature = "\x89HDF\r\n\x1a\n";

// A file whose very first record is broken may hold none.
std::string what_follows(const ParseError& broken) {
  if (broken.offset > 0) return broken.message + "; what follows cannot be read";
  return broken.message +
         "; is this a TFRecord file? Binary records need seq_length and max_predictions_per_seq; "
         "text goes to cloze data records, or to cloze pretrain as input_file";
}

// Records in a TFRecord file: plain, re-masked or packed. Opening reads only the records' frames
// and keeps 8 bytes per record.
class TfRecordFile final : public RecordFile {
 public:
  TfRecordFile(std::filesystem::path path, platform::MappedFile file, const RecordShape& shape)
      : RecordFile(std::move(path)), file_(std::move(file)), shape_(shape) {
    formats::TfRecordIndex index = formats::index_tfrecords(file_.bytes());
    offsets_ = std::move(index.offsets);
    if (index.broken_end) {
      broken_end_ =
          RecordDefect{this->path(), fmt::format("record at byte {}", index.broken_end->offset),
                       what_follows(*index.broken_end)};
    }
    holds_packs_ = first_is_packed();
  }

  int64_t bytes() const override { return std::ssize(file_.bytes()); }
  int64_t records() const override { return std::ssize(offsets_); }
  std::string place_of(int64_t record) const override {
    return fmt::format("record at byte {}", offsets_[record]);
  }
  bool holds_packs() const override { return holds_packs_; }

  Result<std::vector<Sample>> read(int64_t record) const override {
    const auto example = example_of(record);
    if (!example) return example.error();
    if (is_packed(*example) != holds_packs_) {
      return ParseError{holds_packs_ ? "is not a pack, but the first good record of the file is"
                                     : "is a pack, but the first good record of the file is not"};
    }
    if (holds_packs_) return read_packed_record(*example, shape_);
    Result<Sample> sample = read_record(*example, shape_);
    if (!sample) return sample.error();
    return std::vector<Sample>{std::move(sample).value()};
  }

 private:
  Result<formats::TfExample> example_of(int64_t record) const {
    const auto payload = formats::tfrecord_payload(file_.bytes(), offsets_[record]);
    if (!payload) return payload.error();
    return formats::TfExample::parse(*payload);
  }
  // Says so of the first record that can be read.
  bool first_is_packed() const {
    for (int64_t record = 0; record < records(); ++record) {
      if (const auto example = example_of(record)) return is_packed(*example);
    }
    return false;
  }

  platform::MappedFile file_;
  RecordShape shape_;
  std::vector<uint64_t> offsets_;
  bool holds_packs_ = false;
};

// Records without a header, all of one size, one after another: Graphcore's packs and the unpacked
// records that they are made of.
struct BinaryForm {
  uint64_t record_bytes = 0;
  Result<std::vector<Sample>> (*read)(std::span<const std::byte> record,
                                      const RecordShape& shape) = nullptr;
  bool holds_packs = false;
};

class BinaryRecordFile final : public RecordFile {
 public:
  // The file's size is a multiple of the form's.
  BinaryRecordFile(std::filesystem::path path, platform::MappedFile file, const RecordShape& shape,
                   const BinaryForm& form)
      : RecordFile(std::move(path)), file_(std::move(file)), shape_(shape), form_(form) {}

  int64_t bytes() const override { return std::ssize(file_.bytes()); }
  int64_t records() const override { return bytes() / static_cast<int64_t>(form_.record_bytes); }
  std::string place_of(int64_t record) const override {
    return fmt::format("record at byte {}", offset_of(record));
  }
  Result<std::vector<Sample>> read(int64_t record) const override {
    return form_.read(file_.bytes().subspan(offset_of(record), form_.record_bytes), shape_);
  }
  bool holds_packs() const override { return form_.holds_packs; }

 private:
  uint64_t offset_of(int64_t record) const {
    return static_cast<uint64_t>(record) * form_.record_bytes;
  }

  platform::MappedFile file_;
  RecordShape shape_;
  BinaryForm form_;
};

bool has_sizes(const RecordShape& shape) {
  return shape.sequence_length > 0 && shape.max_predictions > 0;
}

// Records hold numbers of four bytes, and so zeros from the start.
bool is_text(std::span<const std::byte> bytes) {
  constexpr size_t kLooked = 256;
  const auto begin = bytes.first(std::min(bytes.size(), kLooked));
  return std::ranges::none_of(begin, [](std::byte one) { return one == std::byte{0}; });
}

// Decides by the size, and, if that suits both forms, by the form of the first record.
BinaryForm binary_form_of(const std::filesystem::path& path, std::span<const std::byte> bytes,
                          const RecordShape& shape) {
  const BinaryForm packed{packed_binary_bytes(shape), read_packed_binary, true};
  const BinaryForm unpacked{unpacked_binary_bytes(shape), read_unpacked_binary, false};
  const auto suits = [&](const BinaryForm& form) { return bytes.size() % form.record_bytes == 0; };
  if (suits(packed) && suits(unpacked)) {
    return packed.read(bytes.first(packed.record_bytes), shape) ? packed : unpacked;
  }
  if (suits(packed)) return packed;
  if (suits(unpacked)) return unpacked;
  if (is_text(bytes)) {
    throw_data_error(
        "{} is text and no file of records; cloze pretrain and cloze data read text with "
        "input_file",
        path.string());
  }
  throw_data_error(
      "{} is neither a TFRecord file nor a binary one: its {} bytes are a multiple neither of the "
      "{} of a packed record nor of the {} of an unpacked one, for seq_length {} and "
      "max_predictions_per_seq {}",
      path.string(), bytes.size(), packed.record_bytes, unpacked.record_bytes,
      shape.sequence_length, shape.max_predictions);
}

}  // namespace

std::vector<Sample> RecordFile::read_or_throw(int64_t record) const {
  Result<std::vector<Sample>> samples = read(record);
  if (!samples) throw_data_error("{}", defect_of(record, samples.error().message).text());
  return std::move(samples).value();
}

RecordSurvey survey_records(const RecordFile& file, int threads) {
  constexpr int64_t kRecordsPerTask = 1024;
  // Tasks at distant places would evict each other's blocks.
  if (!file.is_random_access()) threads = 1;
  const int64_t count = file.records();
  RecordSurvey survey{.samples = std::vector<int64_t>(static_cast<size_t>(count))};
  std::mutex mutex;
  std::map<int64_t, RecordDefect> defects;  // by record
  platform::parallel_for(divide_up(count, kRecordsPerTask), threads, [&](int64_t task) {
    const int64_t end = std::min(count, (task + 1) * kRecordsPerTask);
    for (int64_t record = task * kRecordsPerTask; record < end; ++record) {
      const auto samples = file.read(record);
      if (samples) {
        survey.samples[record] = std::ssize(*samples);
        continue;
      }
      const std::lock_guard lock(mutex);
      defects.emplace(record, file.defect_of(record, samples.error().message));
    }
  });
  for (auto& [record, defect] : defects) survey.defects.push_back(std::move(defect));
  return survey;
}

std::unique_ptr<RecordFile> open_record_file(const std::filesystem::path& path,
                                             const RecordShape& shape) {
  platform::MappedFile file(path);
  if (file.text().starts_with(kHdf5Signature)) return open_hdf5_record_file(path, shape);
  const bool is_tfrecord = static_cast<bool>(formats::tfrecord_frame(file.bytes(), 0));
  if (!is_tfrecord && formats::compression_of(file.bytes()) != formats::Compression::kNone) {
    throw_data_error("{} is compressed; unpack it first", path.string());
  }
  if (!is_tfrecord && !file.bytes().empty() && has_sizes(shape)) {
    const BinaryForm form = binary_form_of(path, file.bytes(), shape);
    return std::make_unique<BinaryRecordFile>(path, std::move(file), shape, form);
  }
  return std::make_unique<TfRecordFile>(path, std::move(file), shape);
}

}  // namespace cloze::data
