#include "formats/tf_example.h"

#include <gtest/gtest.h>

#include <string>

namespace cloze::formats {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

TfExample small_example() {
  TfExample example;
  example.add_integers("ids", std::vector<int32_t>{101, 7, -1});
  example.add_floats("weights", std::vector<float>{1.0f, 0.0f});
  return example;
}

TEST(TfExampleTest, RoundTrip) {
  const auto read = TfExample::parse(bytes_of(small_example().serialize()));
  ASSERT_TRUE(read);
  const auto ids = *read->integers("ids");
  EXPECT_EQ(std::vector<int64_t>(ids.begin(), ids.end()), (std::vector<int64_t>{101, 7, -1}));
  const auto weights = *read->floats("weights");
  EXPECT_EQ(std::vector<float>(weights.begin(), weights.end()), (std::vector<float>{1.0f, 0.0f}));
  EXPECT_EQ(read->names(), (std::vector<std::string>{"ids", "weights"}));
}

TEST(TfExampleTest, AbsentAndMistypedFeaturesAreNothing) {
  const TfExample example = small_example();
  EXPECT_FALSE(example.integers("weights"));
  EXPECT_FALSE(example.floats("ids"));
  EXPECT_FALSE(example.integers("nothing"));
}

// The bytes that the protobuf encoding rules give for {"a": [1, 300]}, worked out by hand.
TEST(TfExampleTest, BytesAreThoseOfTheWireFormat) {
  TfExample example;
  example.add_integers("a", std::vector<int32_t>{1, 300});
  const std::string expected(
      "\x0A\x0E"  // features, 14 bytes
      "\x0A\x0C"  // one entry, 12 bytes
      "\x0A\x01"  // key, 1 byte
      "a"         //
      "\x12\x07"  // value, 7 bytes
      "\x1A\x05"  // int64_list, 5 bytes
      "\x0A\x03\x01\xAC\x02",
      16  // packed values, 3 bytes
  );
  EXPECT_EQ(example.serialize(), expected);
}

TEST(TfExampleTest, LastFeatureOfANameCounts) {
  TfExample example;
  example.add_integers("a", std::vector<int32_t>{1});
  example.add_integers("a", std::vector<int32_t>{2});
  EXPECT_EQ(example.integers("a")->front(), 2);
}

TEST(TfExampleTest, DamagedBytesGiveAnErrorOrAnotherExampleButNeverACrash) {
  const std::string whole = small_example().serialize();
  EXPECT_FALSE(TfExample::parse(bytes_of(whole.substr(0, whole.size() - 1))));
  EXPECT_FALSE(TfExample::parse(bytes_of(std::string(16, '\xFF'))));
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    const auto read = TfExample::parse(bytes_of(damaged));
    if (read) {
      EXPECT_LE(read->names().size(), damaged.size());
    }
  }
}

}  // namespace
}  // namespace cloze::formats
