// The records in the index of a TensorFlow checkpoint, which is a sorted table: the first is a header,
// the others are entries, of one tensor each. In the wire form of tf_bundle.proto.
// Source: tensorflow/core/protobuf/tensor_bundle.proto, framework/tensor_shape.proto.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cloze::formats {

struct TfBundleHeader {
  int32_t num_shards = 0;
  int32_t endianness = 0;  // 0: little
  int32_t producer = 0;
  int32_t min_consumer = 0;
};

struct TfBundleEntry {
  int32_t dtype = 0;
  std::vector<int64_t> dims = {};
  bool has_unknown_rank = false;
  int32_t shard = 0;
  int64_t offset = 0;
  int64_t bytes = 0;
  uint32_t masked_crc = 0;
  bool has_slices = false;
};

// No value for a record that is none.
std::optional<TfBundleHeader> parse_tf_bundle_header(std::string_view record);
std::optional<TfBundleEntry> parse_tf_bundle_entry(std::string_view record);

// Without slices.
std::string tf_bundle_record(const TfBundleHeader& header);
std::string tf_bundle_record(const TfBundleEntry& entry);

}  // namespace cloze::formats
