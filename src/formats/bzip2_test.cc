#include "formats/bzip2.h"

#include <bzlib.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace cloze::formats {
namespace {

std::string compressed(std::string text) {
  std::string result(text.size() + text.size() / 100 + 600, '\0');
  auto size = static_cast<unsigned>(result.size());
  EXPECT_EQ(BZ2_bzBuffToBuffCompress(result.data(), &size, text.data(),
                                     static_cast<unsigned>(text.size()), 9, 0, 0),
            BZ_OK);
  result.resize(size);
  return result;
}

std::string long_text() {
  std::string text;
  for (int i = 0; i < 400'000; ++i) text += std::to_string(i) + " ";
  return text;
}

std::string stored(const std::string& bytes) {
  const std::string path = testing::TempDir() + "bzip2_test.bz2";
  platform::write_file_atomically(path, bytes);
  return path;
}

std::string read_all(const std::string& bytes) {
  Bzip2File file(stored(bytes));
  std::string text;
  while (true) {
    const std::string_view block = file.read();
    if (block.empty()) return text;
    text += block;
  }
}

TEST(Bzip2, ReadsOneMemberAndMany) {
  const std::string text = long_text();
  EXPECT_EQ(read_all(compressed(text)), text);
  EXPECT_EQ(read_all(compressed("one ") + compressed("") + compressed(text)), "one " + text);
}

TEST(Bzip2, ABreakIsNamedWithItsOffset) {
  const std::string good = compressed(long_text());
  std::string flipped = good;
  flipped[good.size() / 2] ^= 0x10;
  for (const std::string& bad : {flipped, good.substr(0, good.size() / 2), good + "rest",
                                 std::string("no bzip2"), std::string()}) {
    try {
      read_all(bad);
      ADD_FAILURE() << bad.size();
    } catch (const DataError& error) {
      EXPECT_NE(std::string(error.what()).find("bzip2_test.bz2: the bzip2 data"),
                std::string::npos);
    }
  }
}

}  // namespace
}  // namespace cloze::formats
