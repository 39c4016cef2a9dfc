#include "formats/tf_bundle.h"

#include <utility>

#include "formats/wire_message.h"

namespace cloze::formats {
namespace {

// Calls `take` for each field of a record; false when it is none, or `take` says so.
template <class Take>
bool for_each_field(std::string_view record, const Take& take) {
  const auto fields = wire_fields(record);
  if (!fields) return false;
  for (const WireField& field : *fields) {
    if (!take(field)) return false;
  }
  return true;
}

// A number of a field; one of another type is a field that is not known, and left alone.
template <class Number>
bool take_number(const WireField& field, Number& number) {
  if (field.type == WireType::kVarint) number = static_cast<Number>(field.value);
  return true;
}

bool take_version(std::string_view record, TfBundleHeader& header) {
  return for_each_field(record, [&](const WireField& field) {
    if (field.number == 1) return take_number(field, header.producer);
    if (field.number == 2) return take_number(field, header.min_consumer);
    return true;
  });
}

bool take_dim(std::string_view record, TfBundleEntry& entry) {
  int64_t& size = entry.dims.emplace_back(0);
  return for_each_field(record, [&](const WireField& field) {
    return field.number != 1 || take_number(field, size);
  });
}

bool take_shape(std::string_view record, TfBundleEntry& entry) {
  return for_each_field(record, [&](const WireField& field) {
    if (field.number == 2 && field.type == WireType::kBytes) return take_dim(field.bytes, entry);
    return field.number != 3 || take_number(field, entry.has_unknown_rank);
  });
}

bool take_field(const WireField& field, TfBundleEntry& entry) {
  switch (field.number) {
    case 1:
      return take_number(field, entry.dtype);
    case 2:
      return field.type != WireType::kBytes || take_shape(field.bytes, entry);
    case 3:
      return take_number(field, entry.shard);
    case 4:
      return take_number(field, entry.offset);
    case 5:
      return take_number(field, entry.bytes);
    case 6:
      if (field.type == WireType::kFourBytes) entry.masked_crc = static_cast<uint32_t>(field.value);
      return true;
    case 7:
      entry.has_slices = entry.has_slices || field.type == WireType::kBytes;
      return field.type != WireType::kBytes || wire_fields(field.bytes).has_value();
    default:
      return true;
  }
}

// On the wire a number below zero is its 64 bits.
uint64_t bits(int64_t number) { return static_cast<uint64_t>(number); }

}  // namespace

std::optional<TfBundleHeader> parse_tf_bundle_header(std::string_view record) {
  TfBundleHeader header;
  const bool is_one = for_each_field(record, [&](const WireField& field) {
    if (field.number == 1) return take_number(field, header.num_shards);
    if (field.number == 2) return take_number(field, header.endianness);
    if (field.number == 3 && field.type == WireType::kBytes) {
      return take_version(field.bytes, header);
    }
    return true;
  });
  return is_one ? std::optional(header) : std::nullopt;
}

std::optional<TfBundleEntry> parse_tf_bundle_entry(std::string_view record) {
  TfBundleEntry entry;
  const bool is_one =
      for_each_field(record, [&](const WireField& field) { return take_field(field, entry); });
  return is_one ? std::optional(std::move(entry)) : std::nullopt;
}

std::string tf_bundle_record(const TfBundleHeader& header) {
  std::string version, record;
  append_varint(1, bits(header.producer), version);
  append_varint(2, bits(header.min_consumer), version);
  append_varint(1, bits(header.num_shards), record);
  append_varint(2, bits(header.endianness), record);
  append_bytes(3, version, record);
  return record;
}

std::string tf_bundle_record(const TfBundleEntry& entry) {
  std::string shape, record;
  for (const int64_t size : entry.dims) {
    std::string dim;
    append_varint(1, bits(size), dim);
    append_bytes(2, dim, shape);
  }
  append_varint(3, entry.has_unknown_rank ? 1 : 0, shape);
  append_varint(1, bits(entry.dtype), record);
  append_bytes(2, shape, record);
  append_varint(3, bits(entry.shard), record);
  append_varint(4, bits(entry.offset), record);
  append_varint(5, bits(entry.bytes), record);
  append_four_bytes(6, entry.masked_crc, record);
  return record;
}

}  // namespace cloze::formats
