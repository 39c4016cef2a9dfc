#include "data/record_dataset.h"

#include <algorithm>
#include <optional>

#include "formats/tfrecord.h"
#include "platform/parallel_for.h"

namespace cloze::data {
namespace {

[[noreturn]] void throw_at(const std::filesystem::path& path, uint64_t offset,
                           const std::string& message) {
  throw_data_error("{}, record at byte {}: {}", path.string(), offset, message);
}

}  // namespace

RecordDataset::RecordDataset(std::span<const std::filesystem::path> files, const RecordShape& shape)
    : shape_(shape) {
  std::vector<std::optional<File>> opened(files.size());
  const auto open = [&](int64_t i) {
    const auto& path = files[static_cast<size_t>(i)];
    platform::MappedFile bytes(path);
    Result<std::vector<uint64_t>> index = formats::index_tfrecords(bytes.bytes());
    if (!index) {
      throw_at(path, index.error().offset,
               index.error().message + "; the file is damaged or no TFRecord file");
    }
    opened[static_cast<size_t>(i)].emplace(
        File{.path = path, .bytes = std::move(bytes), .offsets = std::move(index).value()});
  };
  platform::parallel_for(static_cast<int64_t>(files.size()), platform::available_threads(), open);

  int64_t records = 0;
  for (std::optional<File>& file : opened) {
    if (file->offsets.empty()) continue;
    read(*file, 0);
    records += static_cast<int64_t>(file->offsets.size());
    files_.push_back(std::move(*file));
    file_ends_.push_back(records);
  }
  if (records == 0) throw_user_error("no record in the {} file(s) of the data set", files.size());
}

Sample RecordDataset::sample(int64_t index, int64_t /*epoch*/) const {
  CLOZE_CHECK(index >= 0 && index < size(), "sample {} of {}", index, size());
  const auto end = std::upper_bound(file_ends_.begin(), file_ends_.end(), index);
  const File& file = files_[static_cast<size_t>(end - file_ends_.begin())];
  const int64_t begin = *end - static_cast<int64_t>(file.offsets.size());
  return read(file, static_cast<size_t>(index - begin));
}

Sample RecordDataset::read(const File& file, size_t record) const {
  const uint64_t offset = file.offsets[record];
  const auto payload = formats::tfrecord_payload(file.bytes.bytes(), offset);
  if (!payload) throw_at(file.path, offset, payload.error().message + "; the file is damaged");
  Result<Sample> sample = read_record(*payload, shape_);
  if (!sample) throw_at(file.path, offset, sample.error().message);
  return std::move(sample).value();
}

}  // namespace cloze::data
