#include "formats/sorted_table.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/error.h"
#include "base/philox.h"
#include "formats/crc32c.h"

namespace cloze::formats {
namespace {

Result<std::vector<TableEntry>> parse(const std::string& bytes) {
  return parse_sorted_table(std::as_bytes(std::span(bytes)));
}

std::string refusal(const std::string& bytes) {
  const auto table = parse(bytes);
  return table ? "taken" : table.error().message;
}

std::vector<TableEntry> entries_of(int count, size_t value_bytes) {
  std::vector<TableEntry> entries = {{"", "header"}};
  for (int i = 0; i < count; ++i) {
    entries.push_back({fmt::format("layer_{:05}/kernel", i),
                       std::string(value_bytes, static_cast<char>('a' + i % 26))});
  }
  return entries;
}

void expect_round_trip(const std::vector<TableEntry>& entries) {
  const auto table = parse(sorted_table_text(entries));
  ASSERT_TRUE(table) << table.error().message;
  ASSERT_EQ(table->size(), entries.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ((*table)[i].key, entries[i].key);
    EXPECT_EQ((*table)[i].value, entries[i].value);
  }
}

TEST(SortedTable, ReadsWhatItWrites) {
  expect_round_trip({});
  expect_round_trip(entries_of(1, 0));
  expect_round_trip(entries_of(100, 40));
  expect_round_trip(entries_of(2000, 400));  // several blocks
  EXPECT_THROW(sorted_table_text(std::vector<TableEntry>{{"b", ""}, {"a", ""}}), InternalError);
}

TEST(SortedTable, EveryCutAndEveryFlippedBitIsRefused) {
  const std::string good = sorted_table_text(entries_of(40, 5));
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_NE(refusal(good.substr(0, size)), "taken") << size;
  }
  for (size_t i = 0; i < good.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bytes = good;
      bytes[i] ^= static_cast<char>(1 << bit);
      const auto table = parse(bytes);
      // The padding of the footer has no meaning.
      EXPECT_TRUE(!table || (table->size() == 41 && i > good.size() - 48)) << i;
    }
  }
}

std::string with_crc(std::string block) {
  block += '\0';
  const uint32_t crc = masked_crc32c(std::as_bytes(std::span(block)));
  return block.append(reinterpret_cast<const char*>(&crc), sizeof crc);
}

// A table, with correct CRCs, whose only data block is `entries`; its index names the block `names`
// times.
std::string forged(const std::string& entries, uint32_t restarts = 0, int names = 1) {
  const auto block = [&](std::string content, uint32_t number) {
    content.append(reinterpret_cast<const char*>(&number), sizeof number);
    return with_crc(content);
  };
  const auto handle = [](size_t offset, size_t bytes) {
    return std::string{static_cast<char>(offset), static_cast<char>(bytes - 5)};
  };
  const std::string data = block(entries, restarts);
  const std::string meta = block("", 0);
  std::string pointers;
  for (int i = 0; i < names; ++i) pointers += std::string("\0\1\2z", 4) + handle(0, data.size());
  for (int i = 0; i < names; ++i) pointers[3 + i * 6] = static_cast<char>('a' + i);
  const std::string index = block(pointers, 0);
  std::string footer =
      handle(data.size(), meta.size()) + handle(data.size() + meta.size(), index.size());
  footer.resize(40);
  return data + meta + index + footer + "\x57\xfb\x80\x8b\x24\x75\x47\xdb";
}

// Errors that no checksum finds, because the forger of the file computed it.
TEST(SortedTable, LengthsAreNotBelieved) {
  EXPECT_EQ(refusal(forged(std::string("\0\1\1av", 5))), "taken");
  const std::string huge = "\xff\xff\xff\xff\x0f";
  EXPECT_EQ(refusal(forged(std::string("\0", 1) + huge + "\1a")), "a key longer than 1 KiB");
  EXPECT_EQ(refusal(forged(std::string("\0\1", 2) + huge + "a")),
            "a length points outside its block");
  EXPECT_EQ(refusal(forged(std::string("\1\1\1av", 5))),
            "a key shares more bytes than the previous key has");
  EXPECT_EQ(refusal(forged(std::string("\0\1\0b\0\1\0a", 8))),
            "the keys are not in ascending order");
  EXPECT_EQ(refusal(forged(std::string("\0", 1) + std::string(9, '\xff') + "\x02")),
            "a number of more than 64 bits");
  EXPECT_EQ(refusal(forged(std::string("\0\1", 2))), "a length points outside its block");
  EXPECT_EQ(refusal(forged(std::string("\0\1\1av", 5), 2)), "more restarts than fit");
  EXPECT_EQ(refusal(forged("", 0xffffffff)), "more restarts than fit");
  EXPECT_EQ(refusal(forged("", 0, 2)), "points into the previous block");
}

TEST(SortedTable, SaysWhatIsWrong) {
  EXPECT_EQ(refusal("short"), "5 bytes are too few for a table");
  EXPECT_EQ(refusal(std::string(48, 'x')), "it does not end as a table does");
  std::string bytes = sorted_table_text(entries_of(3, 5));
  bytes[4] ^= 1;
  EXPECT_EQ(refusal(bytes), "a block's CRC does not match its bytes");
}

}  // namespace
}  // namespace cloze::formats
