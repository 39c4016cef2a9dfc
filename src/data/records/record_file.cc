#include "data/records/record_file.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "data/records/binary_record_file.h"
#include "data/records/hdf5_record_file.h"
#include "data/records/packed_record.h"
#include "data/records/tfrecord_file.h"
#include "data/records/unpacked_binary.h"
#include "formats/tfrecord.h"
#include "platform/parallel_for.h"

namespace cloze::data {
namespace {

constexpr std::string_view kHdf5Signature = "\x89HDF\r\n\x1a\n";

bool has_sizes(const RecordShape& shape) {
  return shape.sequence_length > 0 && shape.max_predictions > 0;
}

// By the size, and where that suits both by what the first record is.
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
  const int64_t count = file.records();
  RecordSurvey survey{.samples = std::vector<int64_t>(static_cast<size_t>(count))};
  std::mutex mutex;
  std::map<int64_t, RecordDefect> defects;  // by record
  platform::parallel_for(
      (count + kRecordsPerTask - 1) / kRecordsPerTask, threads, [&](int64_t task) {
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
  if (!is_tfrecord && !file.bytes().empty() && has_sizes(shape)) {
    const BinaryForm form = binary_form_of(path, file.bytes(), shape);
    return std::make_unique<BinaryRecordFile>(path, std::move(file), shape, form);
  }
  return std::make_unique<TfRecordFile>(path, std::move(file), shape);
}

}  // namespace cloze::data
