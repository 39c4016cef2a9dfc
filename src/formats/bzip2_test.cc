#include "formats/bzip2.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <span>

#include "base/error.h"
#include "base/philox.h"
#include "formats/bzip2_compressed_test.h"

namespace cloze::formats {
namespace {

std::string long_text() {
  std::string text;
  for (int i = 0; i < 400'000; ++i) text += std::to_string(i) + " ";
  return text;
}

std::string stored(const std::string& bytes) {
  const std::string path = testing::TempDir() + "bzip2_test.bz2";
  std::filesystem::remove(path);
  std::ofstream(path, std::ios::binary) << bytes;  // not synced: there are many
  return path;
}

std::string read_all(const std::string& bytes, int threads = 2) {
  Bzip2File file(stored(bytes), threads);
  std::string text;
  while (true) {
    const std::string_view block = file.read();
    if (block.empty()) return text;
    text += block;
  }
}

TEST(Bzip2, ReadsOneMemberAndMany) {
  const std::string text = long_text();
  EXPECT_EQ(read_all(bzip2_compressed(text)), text);
  EXPECT_EQ(read_all(bzip2_compressed("one ") + bzip2_compressed("") + bzip2_compressed(text)),
            "one " + text);
}

TEST(Bzip2, TheTextIsTheSameForAnyNumberOfThreads) {
  const std::string text = long_text();
  const std::string bytes =
      bzip2_compressed(text, 1) + bzip2_compressed("") + bzip2_compressed(text) +
      bzip2_compressed(std::string(30'000'000, 'a')) + bzip2_compressed("end", 5);
  for (const int threads : {1, 2, 5}) {
    EXPECT_EQ(read_all(bytes, threads), text + text + std::string(30'000'000, 'a') + "end")
        << threads;
  }
}

// A block has a map of the bytes that occur in it, 16 bits for each group of sixteen: a text of
// chosen bytes makes a map that looks like the mark of a block or of the end.
std::string text_that_makes(std::initializer_list<unsigned> mark, int repeats) {
  std::string bytes;
  unsigned high = 0x40;
  for (const unsigned map : mark) {
    for (unsigned low = 0; low < 16; ++low) {
      if (map >> (15 - low) & 1) bytes += static_cast<char>(high | low);
    }
    high += 0x10;
  }
  PhiloxStream random(1, 0);
  std::string text = bytes;
  while (std::ssize(text) < repeats)
    text += bytes[random.below(static_cast<uint32_t>(bytes.size()))];
  return text;
}

TEST(Bzip2, WhatLooksLikeAMarkInsideABlockIsContent) {
  for (const auto& mark : {std::initializer_list<unsigned>{0x3141, 0x5926, 0x5359},
                           std::initializer_list<unsigned>{0x1772, 0x4538, 0x5090}}) {
    const std::string text = text_that_makes(mark, 450'000);
    const std::string bytes = bzip2_compressed(text, 1) + bzip2_compressed("end");
    const BitView bits(std::as_bytes(std::span(bytes)));
    int marks = 0;
    for (auto bit = find_bzip2_mark(bits, 0, bits.size()); bit;
         bit = find_bzip2_mark(bits, *bit + 1, bits.size())) {
      ++marks;
    }
    EXPECT_EQ(marks, 5 + 1 + 5 + 2);  // of blocks and end, false ones, and the last stream's
    for (const int threads : {1, 3}) EXPECT_EQ(read_all(bytes, threads), text + "end");
  }
}

TEST(Bzip2, EveryCutAndEveryFlippedByteIsRefusedOrMeansNothing) {
  const std::string text = text_that_makes({0x3141, 0x5926, 0x5359}, 3000);
  const std::string good = bzip2_compressed(text) + bzip2_compressed("end");
  const auto first = static_cast<std::ptrdiff_t>(bzip2_compressed(text).size());
  int refused = 0;
  for (std::ptrdiff_t place = 0; place < std::ssize(good); ++place) {
    std::string flipped = good;
    flipped[static_cast<size_t>(place)] ^= 0x40;
    const std::string cut = good.substr(0, static_cast<size_t>(place));
    if (place != first) {
      EXPECT_THROW(read_all(cut), DataError) << place;
    }
    // Some bits mean nothing: what fills a stream's last byte, a table that no group uses.
    try {
      EXPECT_EQ(read_all(flipped), text + "end") << place;
    } catch (const DataError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, std::ssize(good) - 5);
}

TEST(Bzip2, EveryPositionCanBeGoneOnFrom) {
  const std::string text = long_text();
  const std::string path =
      stored(bzip2_compressed(text, 1) + bzip2_compressed("") + bzip2_compressed(text, 1));
  Bzip2File whole(path);
  std::string before;
  int checked = 0;
  while (true) {
    const std::string_view block = whole.read();
    if (block.empty()) break;
    before += block;
    if (++checked % 5 != 0) continue;
    Bzip2File rest(path, 2, whole.position());
    std::string after;
    for (std::string_view next = rest.read(); !next.empty(); next = rest.read()) after += next;
    EXPECT_EQ(before + after, text + text);
  }
  EXPECT_GT(checked, 30);
}

TEST(Bzip2, ABreakIsNamedWithItsOffset) {
  const std::string good = bzip2_compressed(long_text());
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
