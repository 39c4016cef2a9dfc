#include "formats/tfrecord.h"

#include <array>

#include "formats/crc32c.h"

namespace cloze::formats {
namespace {

constexpr uint64_t kLengthBytes = 8;

uint64_t read_little_endian(std::span<const std::byte> bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i > 0; --i) {
    value = value << 8 | std::to_integer<uint64_t>(bytes[i - 1]);
  }
  return value;
}

template <size_t N>
std::array<std::byte, N> to_little_endian(uint64_t value) {
  std::array<std::byte, N> bytes;
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(value & 0xFF);
    value >>= 8;
  }
  return bytes;
}

}  // namespace

Result<TfRecordFrame> tfrecord_frame(std::span<const std::byte> file, uint64_t offset) {
  if (offset > file.size() || file.size() - offset < kTfRecordHeaderBytes) {
    return ParseError{"the file ends inside a record's header", offset};
  }
  const auto header = file.subspan(offset, kTfRecordHeaderBytes);
  const auto length_bytes = header.first(kLengthBytes);
  if (masked_crc32c(length_bytes) != read_little_endian(header.subspan(kLengthBytes))) {
    return ParseError{"the checksum of a record's length is wrong", offset};
  }
  const uint64_t length = read_little_endian(length_bytes);
  if (length > kMaxTfRecordBytes) {
    return ParseError{
        fmt::format("a record of {} bytes; at most {} are read", length, kMaxTfRecordBytes),
        offset};
  }
  const uint64_t rest = file.size() - offset - kTfRecordHeaderBytes;
  if (rest < length + kTfRecordFooterBytes) {
    return ParseError{fmt::format("the file ends inside a record of {} bytes", length), offset};
  }
  const uint64_t payload_offset = offset + kTfRecordHeaderBytes;
  return TfRecordFrame{.payload_offset = payload_offset,
                       .payload_bytes = length,
                       .end_offset = payload_offset + length + kTfRecordFooterBytes};
}

Result<std::span<const std::byte>> tfrecord_payload(std::span<const std::byte> file,
                                                    uint64_t offset) {
  const Result<TfRecordFrame> frame = tfrecord_frame(file, offset);
  if (!frame) return frame.error();
  const auto payload = file.subspan(frame->payload_offset, frame->payload_bytes);
  const auto footer =
      file.subspan(frame->payload_offset + frame->payload_bytes, kTfRecordFooterBytes);
  if (masked_crc32c(payload) != read_little_endian(footer)) {
    return ParseError{"the checksum of a record's payload is wrong", offset};
  }
  return payload;
}

TfRecordIndex index_tfrecords(std::span<const std::byte> file) {
  TfRecordIndex index;
  for (uint64_t offset = 0; offset < file.size();) {
    const Result<TfRecordFrame> frame = tfrecord_frame(file, offset);
    if (!frame) {
      index.broken_end = frame.error();
      break;
    }
    index.offsets.push_back(offset);
    offset = frame->end_offset;
  }
  return index;
}

std::string tfrecord_bytes(std::span<const std::byte> payload) {
  const auto length = to_little_endian<kLengthBytes>(payload.size());
  const auto length_checksum = to_little_endian<4>(masked_crc32c(length));
  const auto payload_checksum = to_little_endian<4>(masked_crc32c(payload));
  std::string record;
  record.reserve(kTfRecordHeaderBytes + payload.size() + kTfRecordFooterBytes);
  for (const std::span<const std::byte> part :
       {std::span<const std::byte>(length), std::span<const std::byte>(length_checksum), payload,
        std::span<const std::byte>(payload_checksum)}) {
    record.append(reinterpret_cast<const char*>(part.data()), part.size());
  }
  return record;
}

void TfRecordWriter::append(std::span<const std::byte> payload) {
  file_.write(tfrecord_bytes(payload));
}

}  // namespace cloze::formats
