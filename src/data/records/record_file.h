// RecordFile: a file of pre-training records, in whichever of the forms below, read by number.
//
//   TFRecord   plain or re-masked records (record_features.h), or packs (packed_record.h)
//   binary     packs (packed_record.h) or single records (unpacked_binary.h) without a frame; the
//              sizes of `shape` must be given
//   HDF5       NVIDIA's and Habana's shards (hdf5_record_file.h), when built with HDF5
//
// Reading is thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "data/records/record_reader.h"
#include "data/sample.h"

namespace cloze::data {

// A record that cannot be used, or the place from which on the rest of a file cannot be read.
struct RecordDefect {
  std::filesystem::path file;
  std::string place;  // "record at byte 4711"
  std::string message;

  std::string text() const { return file.string() + ", " + place + ": " + message; }
};

class RecordFile {
 public:
  explicit RecordFile(std::filesystem::path path) : path_(std::move(path)) {}
  virtual ~RecordFile() = default;

  const std::filesystem::path& path() const { return path_; }
  virtual int64_t bytes() const = 0;
  virtual int64_t records() const = 0;
  virtual std::string place_of(int64_t record) const = 0;
  // The record's samples: one, or with packs up to three.
  virtual Result<std::vector<Sample>> read(int64_t record) const = 0;
  virtual bool holds_packs() const = 0;
  // Says whether reading in random order is as quick as reading in order.
  virtual bool is_random_access() const { return true; }
  // The reason why the file ends before its last byte; it holds the records that came before.
  const std::optional<RecordDefect>& broken_end() const { return broken_end_; }

  // Does what read() does; its errors name the file and the place.
  std::vector<Sample> read_or_throw(int64_t record) const;
  RecordDefect defect_of(int64_t record, std::string message) const {
    return {path_, place_of(record), std::move(message)};
  }

 protected:
  std::optional<RecordDefect> broken_end_;

 private:
  std::filesystem::path path_;
};

// The findings of reading all records of a file.
struct RecordSurvey {
  std::vector<int64_t> samples;       // of each record; 0 of those that cannot be used
  std::vector<RecordDefect> defects;  // of records, in their order

  int64_t good_records() const { return std::ssize(samples) - std::ssize(defects); }
};
// Reads on `threads` threads, or one where that reads faster; the result does not depend on it.
RecordSurvey survey_records(const RecordFile& file, int threads);

// Tells the form by the file's first bytes. DataError for a file of no such form, or a compressed
// one.
std::unique_ptr<RecordFile> open_record_file(const std::filesystem::path& path,
                                             const RecordShape& shape);

}  // namespace cloze::data
