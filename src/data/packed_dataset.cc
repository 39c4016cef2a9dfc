#include "data/packed_dataset.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "data/packed_record.h"
#include "data/record_dataset.h"
#include "formats/tfrecord.h"
#include "platform/parallel_for.h"

namespace cloze::data {
namespace {

constexpr int64_t kPacksPerTask = 1024;

bool is_tfrecord(std::span<const std::byte> file) {
  return static_cast<bool>(formats::tfrecord_frame(file, 0));
}

bool starts_packed(const platform::MappedFile& file, const RecordShape& shape) {
  if (!is_tfrecord(file.bytes())) {
    return shape.sequence_length > 0 && shape.max_predictions > 0 &&
           file.bytes().size() % packed_binary_bytes(shape) == 0;
  }
  const auto payload = formats::tfrecord_payload(file.bytes(), 0);
  if (!payload) return false;
  const auto example = formats::TfExample::parse(*payload);
  return example && is_packed(*example);
}

}  // namespace

PackedDataset::PackedDataset(std::span<const std::filesystem::path> files, const RecordShape& shape,
                             int threads)
    : shape_(shape) {
  int64_t packs = 0;
  for (const std::filesystem::path& path : files) {
    File& file = files_.emplace_back(File{.path = path, .bytes = platform::MappedFile(path)});
    index_file(file);
    packs += std::ssize(file.offsets);
    file_ends_.push_back(packs);
  }
  if (packs == 0) throw_user_error("no packed record in {} file(s)", files.size());
  pack_ends_.resize(packs);
  platform::parallel_for((packs + kPacksPerTask - 1) / kPacksPerTask, threads, [&](int64_t task) {
    const int64_t end = std::min(packs, (task + 1) * kPacksPerTask);
    for (int64_t pack = task * kPacksPerTask; pack < end; ++pack) {
      pack_ends_[pack] = std::ssize(read(pack));
    }
  });
  std::partial_sum(pack_ends_.begin(), pack_ends_.end(), pack_ends_.begin());
}

void PackedDataset::index_file(File& file) const {
  const std::span<const std::byte> bytes = file.bytes.bytes();
  if (bytes.empty()) return;
  if (is_tfrecord(bytes)) {
    auto index = formats::index_tfrecords(bytes);
    if (!index) {
      throw_data_error("{}, record at byte {}: {}; the file is damaged", file.path.string(),
                       index.error().offset, index.error().message);
    }
    file.offsets = std::move(index).value();
    return;
  }
  const uint64_t size = packed_binary_bytes(shape_);
  if (bytes.size() % size != 0) {
    throw_data_error(
        "{} is no TFRecord file, and its {} bytes are no multiple of the {} of a packed record for "
        "seq_length {} and max_predictions_per_seq {}",
        file.path.string(), bytes.size(), size, shape_.sequence_length, shape_.max_predictions);
  }
  file.is_binary = true;
  for (uint64_t offset = 0; offset < bytes.size(); offset += size) file.offsets.push_back(offset);
}

std::vector<Sample> PackedDataset::read(const File& file, size_t pack) const {
  const uint64_t offset = file.offsets[pack];
  const auto checked = [&](auto result) {
    if (!result) {
      throw_data_error("{}, record at byte {}: {}", file.path.string(), offset,
                       result.error().message);
    }
    return std::move(result).value();
  };
  const std::span<const std::byte> bytes = file.bytes.bytes();
  if (file.is_binary) {
    return checked(read_packed_binary(bytes.subspan(offset, packed_binary_bytes(shape_)), shape_));
  }
  const auto example =
      checked(formats::TfExample::parse(checked(formats::tfrecord_payload(bytes, offset))));
  return checked(read_packed_record(example, shape_));
}

std::vector<Sample> PackedDataset::read(int64_t pack) const {
  const auto end = std::upper_bound(file_ends_.begin(), file_ends_.end(), pack);
  const File& file = files_[end - file_ends_.begin()];
  return read(file, static_cast<size_t>(pack - (*end - std::ssize(file.offsets))));
}

Sample PackedDataset::sample(int64_t index, int64_t /*epoch*/) const {
  CLOZE_CHECK(index >= 0 && index < size(), "sample {} of {}", index, size());
  const auto end = std::upper_bound(pack_ends_.begin(), pack_ends_.end(), index);
  const int64_t begin = end == pack_ends_.begin() ? 0 : *(end - 1);
  return std::move(read(end - pack_ends_.begin())[index - begin]);
}

std::unique_ptr<Dataset> open_records(std::span<const std::filesystem::path> files,
                                      const RecordShape& shape, int threads) {
  for (const std::filesystem::path& path : files) {
    const platform::MappedFile file(path);
    if (file.bytes().empty()) continue;
    if (starts_packed(file, shape)) {
      return std::make_unique<PackedDataset>(files, shape, threads);
    }
    break;
  }
  return std::make_unique<RecordDataset>(files, shape);
}

}  // namespace cloze::data
