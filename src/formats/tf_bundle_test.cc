#include "formats/tf_bundle.h"

#include <gtest/gtest.h>

#include "base/philox.h"
#include "formats/wire_message.h"
#include "tf_bundle.pb.h"

namespace cloze::formats {
namespace {

// Small, large and below zero.
int64_t some_number(PhiloxStream& random) {
  const auto number =
      static_cast<int64_t>(uint64_t{random.below(UINT32_MAX)} << 32 | random.below(UINT32_MAX));
  return random.below(4) == 0 ? 0 : number >> random.below(64);
}

// What protobuf writes of the same numbers.
wire::BundleEntry message_of(const TfBundleEntry& entry) {
  wire::BundleEntry message;
  message.set_dtype(entry.dtype);
  for (const int64_t size : entry.dims) message.mutable_shape()->add_dim()->set_size(size);
  message.mutable_shape()->set_unknown_rank(entry.has_unknown_rank);
  message.set_shard_id(entry.shard);
  message.set_offset(entry.offset);
  message.set_size(entry.bytes);
  message.set_crc32c(entry.masked_crc);
  return message;
}

TfBundleEntry some_entry(PhiloxStream& random) {
  TfBundleEntry entry{.dtype = static_cast<int32_t>(some_number(random)),
                      .has_unknown_rank = random.below(2) == 1,
                      .shard = static_cast<int32_t>(some_number(random)),
                      .offset = some_number(random),
                      .bytes = some_number(random),
                      .masked_crc = static_cast<uint32_t>(some_number(random))};
  for (uint32_t dims = random.below(4); dims > 0; --dims) entry.dims.push_back(some_number(random));
  return entry;
}

TEST(TfBundleTest, EntriesAreProtobufs) {
  PhiloxStream random(1, 0);
  for (int round = 0; round < 1000; ++round) {
    const TfBundleEntry entry = some_entry(random);
    const std::string record = message_of(entry).SerializeAsString();
    EXPECT_EQ(tf_bundle_record(entry), record);
    const auto parsed = parse_tf_bundle_entry(record);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(tf_bundle_record(*parsed), record);
    EXPECT_FALSE(parsed->has_slices);
  }
  wire::BundleEntry sliced;
  sliced.add_slices();
  EXPECT_TRUE(parse_tf_bundle_entry(sliced.SerializeAsString())->has_slices);
}

TEST(TfBundleTest, HeadersAreProtobufs) {
  wire::BundleHeader message;
  message.set_num_shards(3);
  message.set_endianness(1);
  message.mutable_version()->set_producer(1);
  message.mutable_version()->set_min_consumer(2);
  const std::string record = message.SerializeAsString();
  const auto header = parse_tf_bundle_header(record);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->num_shards, 3);
  EXPECT_EQ(header->endianness, 1);
  EXPECT_EQ(header->min_consumer, 2);
  EXPECT_EQ(tf_bundle_record(*header), record);
}

// Cut short, or with flipped bits: no value wherever protobuf has none. Groups, which it knows and this
// reader does not, are the only difference.
TEST(TfBundleTest, DamagedRecordsAreNone) {
  PhiloxStream random(2, 0);
  int64_t taken = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string record = tf_bundle_record(some_entry(random));
    if (record.empty()) continue;
    const auto size = static_cast<uint32_t>(record.size());
    if (round % 3 == 0) record.resize(random.below(size));
    for (int flips = round % 3; flips > 0; --flips) {
      record[random.below(size)] ^= static_cast<char>(1 << random.below(8));
    }
    wire::BundleEntry message;
    const auto entry = parse_tf_bundle_entry(record);
    const bool is_one = message.ParseFromString(record);
    EXPECT_TRUE(is_one || !entry);
    if (!entry) continue;
    ++taken;
    EXPECT_EQ(entry->dtype, message.dtype());
    EXPECT_EQ(entry->offset, message.offset());
    EXPECT_EQ(entry->bytes, message.size());
    EXPECT_EQ(entry->shard, message.shard_id());
    EXPECT_EQ(entry->masked_crc, message.crc32c());
    EXPECT_EQ(std::ssize(entry->dims), message.shape().dim_size());
  }
  EXPECT_GT(taken, 1000);
}

TEST(WireMessageTest, FieldsOfEachTypeAreRead) {
  const std::string message("\x08\xac\x02\x11\x01\0\0\0\0\0\0\x80\x1a\x02hi\x25\x05\0\0\0", 21);
  const auto fields = wire_fields(message);
  ASSERT_TRUE(fields);
  ASSERT_EQ(fields->size(), 4u);
  EXPECT_EQ((*fields)[0].value, 300u);
  EXPECT_EQ((*fields)[1].value, 0x8000000000000001u);
  EXPECT_EQ((*fields)[2].bytes, "hi");
  EXPECT_EQ((*fields)[3].value, 5u);
  EXPECT_TRUE(wire_fields("")->empty());
  for (const std::string_view none :
       {std::string_view("\0\x01", 2), std::string_view("\x0b"), std::string_view("\x08"),
        std::string_view("\x1a\x03hi"),
        std::string_view("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")}) {
    EXPECT_FALSE(wire_fields(none)) << none;
  }
}

}  // namespace
}  // namespace cloze::formats
