#include "data/offline_packing/length_histogram.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "platform/files/atomic_file.h"

namespace cloze::data {
namespace {

TEST(LengthHistogram, ReadsLinesOfLengthAndCount) {
  const auto histogram = parse_length_histogram("# a comment\n\n5\t2\n 3 10 \n5 1");
  ASSERT_TRUE(histogram);
  EXPECT_EQ(histogram->counts, (std::vector<int64_t>{0, 0, 0, 10, 0, 3}));
  EXPECT_EQ(histogram->longest(), 5);
  EXPECT_EQ(histogram->num_sequences(), 13);
  EXPECT_EQ(histogram->num_tokens(), 45);
  EXPECT_EQ(length_histogram_text(*histogram), "3\t10\n5\t3\n");
}

TEST(LengthHistogram, BadLinesAreNamed) {
  for (const char* line : {"5", "x 1", "0 1", "5 -1", "5 1 1", "99999999 1", "5 1x"}) {
    const auto histogram = parse_length_histogram("3 1\n" + std::string(line) + "\n");
    ASSERT_FALSE(histogram) << line;
    EXPECT_EQ(histogram.error().offset, 4u) << line;
  }
  EXPECT_FALSE(parse_length_histogram(""));
  EXPECT_FALSE(parse_length_histogram("4 0\n"));
}

TEST(LengthHistogram, ABadFileIsNamedWithItsLine) {
  const std::string path = testing::TempDir() + "length_histogram_test.tsv";
  platform::write_file_atomically(path, "3 1\nfour 1\n");
  try {
    read_length_histogram(path);
    FAIL();
  } catch (const DataError& error) {
    EXPECT_EQ(error.what(), path +
                                ", line 2: is not a line with a length and a count; write \"length "
                                "count\", one length a line");
  }
}

TEST(LengthHistogram, AByteOrderMarkIsNoNumber) {
  const std::string path = testing::TempDir() + "length_histogram_mark_test.tsv";
  platform::write_file_atomically(path,
                                  "\xEF\xBB\xBF"
                                  "3 2\n");
  EXPECT_EQ(read_length_histogram(path).num_tokens(), 6);
}

}  // namespace
}  // namespace cloze::data
