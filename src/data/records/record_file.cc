#include "data/records/record_file.h"

#include <utility>

#include "base/error.h"
#include "data/records/hdf5_record_file.h"
#include "data/records/packed_binary_file.h"
#include "data/records/tfrecord_file.h"
#include "formats/tfrecord.h"

namespace cloze::data {
namespace {

constexpr std::string_view kHdf5Signature = "\x89HDF\r\n\x1a\n";

bool has_sizes(const RecordShape& shape) {
  return shape.sequence_length > 0 && shape.max_predictions > 0;
}

}  // namespace

std::vector<Sample> RecordFile::read_or_throw(int64_t record) const {
  Result<std::vector<Sample>> samples = read(record);
  if (!samples) throw_data_error("{}", defect_of(record, samples.error().message).text());
  return std::move(samples).value();
}

std::unique_ptr<RecordFile> open_record_file(const std::filesystem::path& path,
                                             const RecordShape& shape) {
  platform::MappedFile file(path);
  if (file.text().starts_with(kHdf5Signature)) return open_hdf5_record_file(path, shape);
  const bool is_tfrecord = static_cast<bool>(formats::tfrecord_frame(file.bytes(), 0));
  if (!is_tfrecord && !file.bytes().empty() && has_sizes(shape)) {
    const uint64_t pack_bytes = packed_binary_bytes(shape);
    if (file.bytes().size() % pack_bytes != 0) {
      throw_data_error(
          "{} is no TFRecord file, or a damaged one; and its {} bytes are no multiple of the {} of "
          "a packed record for seq_length {} and max_predictions_per_seq {}",
          path.string(), file.bytes().size(), pack_bytes, shape.sequence_length,
          shape.max_predictions);
    }
    return std::make_unique<PackedBinaryFile>(path, std::move(file), shape);
  }
  return std::make_unique<TfRecordFile>(path, std::move(file), shape);
}

}  // namespace cloze::data
