#include "data/records/hdf5_record_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "data/records/record_features.h"
#include "formats/hdf5.h"
#include "platform/files/file.h"

namespace cloze::data {
namespace {

constexpr int64_t kRowsPerBlock = 1024;
constexpr int64_t kMaxColumns = 8192;  // more tokens than any record has

enum Column { kIds, kMask, kSegments, kPositions, kLabels, kNextSentence, kNumColumns };

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const std::string_view name :
       {feature::kInputIds, feature::kInputMask, feature::kSegmentIds, feature::kMaskedPositions,
        feature::kMaskedIds, feature::kNextSentenceLabels}) {
    names.emplace_back(name);
  }
  return names;
}

class Hdf5RecordFile final : public RecordFile {
 public:
  Hdf5RecordFile(const std::filesystem::path& path, const RecordShape& shape)
      : RecordFile(path), file_(path, names()), shape_(shape) {
    for (int c = 0; c < kNumColumns; ++c) {
      const formats::Hdf5Shape& found = file_.shape_of(c);
      if (c == 0) rows_ = found.rows;
      if (found.rows != rows_) {
        throw_data_error("{}: data set {} has {} rows, input_ids has {}", path.string(), names()[c],
                         found.rows, rows_);
      }
      if (found.columns > kMaxColumns) {
        throw_data_error("{}: data set {} has {} columns; no record has that many", path.string(),
                         names()[c], found.columns);
      }
      columns_[c] = found.columns;
    }
  }

  int64_t bytes() const override { return platform::file_bytes(path()); }
  int64_t records() const override { return rows_; }
  std::string place_of(int64_t record) const override { return fmt::format("row {}", record); }
  bool holds_packs() const override { return false; }
  bool is_random_access() const override { return false; }

  Result<std::vector<Sample>> read(int64_t record) const override {
    const std::lock_guard lock(mutex_);
    load_block_of(record);
    const auto row = [&](Column column) {
      return std::span<const int64_t>(block_[column])
          .subspan((record - block_begin_) * columns_[column], columns_[column]);
    };
    const auto positions = row(kPositions);
    const auto used = std::find(positions.begin(), positions.end(), 0) - positions.begin();
    std::vector<float> weights(positions.size());
    std::fill_n(weights.begin(), used, 1.0f);
    Result<Sample> sample = read_plain_record({.input_ids = row(kIds),
                                               .input_mask = row(kMask),
                                               .segment_ids = row(kSegments),
                                               .masked_positions = positions,
                                               .masked_ids = row(kLabels),
                                               .masked_weights = weights,
                                               .next_sentence_labels = row(kNextSentence)},
                                              shape_);
    if (!sample) return sample.error();
    return std::vector<Sample>{std::move(sample).value()};
  }

 private:
  void load_block_of(int64_t record) const {
    if (record >= block_begin_ && record < block_end_) return;
    const int64_t begin = record / kRowsPerBlock * kRowsPerBlock;
    const int64_t end = std::min(begin + kRowsPerBlock, rows_);
    block_ = file_.read_rows(begin, end - begin);
    block_begin_ = begin;
    block_end_ = end;
  }

  formats::Hdf5File file_;
  RecordShape shape_;
  int64_t rows_ = 0;
  std::array<int64_t, kNumColumns> columns_{};
  mutable std::mutex mutex_;  // of the block
  mutable int64_t block_begin_ = 0;
  mutable int64_t block_end_ = 0;
  mutable std::vector<std::vector<int64_t>> block_;  // by column
};

}  // namespace

std::unique_ptr<RecordFile> open_hdf5_record_file(const std::filesystem::path& path,
                                                  const RecordShape& shape) {
  return std::make_unique<Hdf5RecordFile>(path, shape);
}

}  // namespace cloze::data
