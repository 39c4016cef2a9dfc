// TFRecord: a file of length-delimited payloads, each guarded by checksums. All little endian:
//
//   file    := record*
//   record  := u64 length | u32 masked CRC32C of the 8 length bytes
//              | payload, `length` bytes | u32 masked CRC32C of the payload
//
// There is no header, index or end mark: a file cut between two records looks whole.
// The length's checksum is verified before the length is believed.
// Errors: reading returns a ParseError with the offset in the file; writing throws as AtomicFile.
// Source: tensorflow.org/tutorials/load_data/tfrecord, "TFRecords format details".
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "platform/files/atomic_file.h"

namespace cloze::formats {

// Longer payloads are refused: a training example is a few kilobytes.
inline constexpr uint64_t kMaxTfRecordBytes = uint64_t{64} << 20;
inline constexpr uint64_t kTfRecordHeaderBytes = 12;
inline constexpr uint64_t kTfRecordFooterBytes = 4;

// The place of one record's payload in its file.
struct TfRecordFrame {
  uint64_t payload_offset = 0;
  uint64_t payload_bytes = 0;
  uint64_t end_offset = 0;  // where the next record begins
};

// The frame of the record at `offset`; its length is checked, its payload is not.
Result<TfRecordFrame> tfrecord_frame(std::span<const std::byte> file, uint64_t offset);

// The payload of the record at `offset`, its checksum verified. A view into `file`.
Result<std::span<const std::byte>> tfrecord_payload(std::span<const std::byte> file,
                                                    uint64_t offset);

// Offsets of all records, up to a broken one. Touches headers only, so payloads may still prove
// corrupt.
struct TfRecordIndex {
  std::vector<uint64_t> offsets;         // ascending
  std::optional<ParseError> broken_end;  // why nothing after these can be read
};
TfRecordIndex index_tfrecords(std::span<const std::byte> file);

// One whole record around a payload.
std::string tfrecord_bytes(std::span<const std::byte> payload);

// Writes records one after the other; the file appears under its name on commit().
class TfRecordWriter {
 public:
  explicit TfRecordWriter(std::filesystem::path path) : file_(std::move(path)) {}
  void append(std::span<const std::byte> payload);
  void commit() { file_.commit(); }

 private:
  platform::AtomicFile file_;
};

}  // namespace cloze::formats
