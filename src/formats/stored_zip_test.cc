#include "formats/stored_zip.h"

#include <gtest/gtest.h>

#include <string>

#include "base/philox.h"
#include "formats/refusal.h"

namespace cloze::formats {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

template <class Number>
std::string little_endian(Number number) {
  return std::string(reinterpret_cast<const char*>(&number), sizeof number);
}

struct Form {
  bool is_long = false;  // Zip64, whose numbers stand elsewhere
  std::string comment = {};
  uint16_t method = 0;
  uint16_t flags = 0;
};

std::string header_of(const std::string& bytes, const std::string& name, const Form& form) {
  const uint32_t size = form.is_long ? 0xffffffff : static_cast<uint32_t>(bytes.size());
  return little_endian<uint16_t>(45) + little_endian(form.flags) + little_endian(form.method) +
         little_endian<uint32_t>(0) + little_endian(crc32(bytes_of(bytes))) + little_endian(size) +
         little_endian(size) + little_endian(static_cast<uint16_t>(name.size()));
}

std::string extra_of(uint64_t size, uint64_t at, const Form& form) {
  const std::string other = "XX" + little_endian<uint16_t>(3) + "abc";
  if (!form.is_long) return other;
  return other + little_endian<uint16_t>(1) + little_endian<uint16_t>(24) + little_endian(size) +
         little_endian(size) + little_endian(at);
}

std::string zip_of(const std::vector<std::pair<std::string, std::string>>& entries,
                   const Form& form = {}) {
  std::string file, directory;
  for (const auto& [name, bytes] : entries) {
    const std::string extra = extra_of(bytes.size(), file.size(), form);
    const uint32_t at = form.is_long ? 0xffffffff : static_cast<uint32_t>(file.size());
    directory += "PK\x01\x02" + little_endian<uint16_t>(45) + header_of(bytes, name, form) +
                 little_endian(static_cast<uint16_t>(extra.size())) + little_endian<uint16_t>(2) +
                 std::string(8, '\0') + little_endian(at) + name + extra + "??";
    file += "PK\x03\x04" + header_of(bytes, name, form) + little_endian<uint16_t>(0) + name + bytes;
  }
  const uint64_t begin = file.size(), count = entries.size(), size = directory.size();
  file += directory;
  if (form.is_long) {
    const uint64_t at = file.size();
    file += "PK\x06\x06" + little_endian<uint64_t>(44) + std::string(12, '\0') +
            std::string(8, '\0') + little_endian(count) + little_endian(size) +
            little_endian(begin) + "PK\x06\x07" + little_endian<uint32_t>(0) + little_endian(at) +
            little_endian<uint32_t>(1);
  }
  return file + "PK\x05\x06" + std::string(6, '\0') + little_endian(static_cast<uint16_t>(count)) +
         little_endian(static_cast<uint32_t>(size)) + little_endian(static_cast<uint32_t>(begin)) +
         little_endian(static_cast<uint16_t>(form.comment.size())) + form.comment;
}

std::string refusal(const std::string& file) {
  try {
    stored_zip_entries(bytes_of(file));
  } catch (const Refusal& bad) {
    return bad.message;
  }
  return "taken";
}

TEST(StoredZipTest, EntriesAreViewsOfTheFile) {
  for (const Form& form : {Form{}, Form{.comment = "PK\x05\x06 and more"}, Form{.is_long = true}}) {
    const std::string file = zip_of({{"a/b", "hello"}, {"empty", ""}}, form);
    const auto entries = stored_zip_entries(bytes_of(file));
    ASSERT_EQ(entries.size(), 2u);
    EXPECT_EQ(entries[0].name, "a/b");
    EXPECT_EQ(entries[0].bytes.size(), 5u);
    EXPECT_EQ(entries[0].bytes.data(), bytes_of(file).data() + file.find("hello"));
    EXPECT_TRUE(has_its_crc(entries[0]));
    EXPECT_EQ(entries[1].bytes.size(), 0u);
    EXPECT_TRUE(has_its_crc(entries[1]));
  }
  EXPECT_EQ(stored_zip_entries(bytes_of(zip_of({}))).size(), 0u);
}

TEST(StoredZipTest, TheCrcIsThatOfZip) {
  EXPECT_EQ(crc32({}), 0u);
  const std::string digits = "123456789";
  EXPECT_EQ(crc32(bytes_of(digits)), 0xCBF43926u);  // the check value of CRC-32/ISO-HDLC
  std::string file = zip_of({{"a", "hello"}});
  file[file.find("hello")] = 'j';
  EXPECT_FALSE(has_its_crc(stored_zip_entries(bytes_of(file))[0]));
}

TEST(StoredZipTest, WhatIsNotReadIsSaid) {
  EXPECT_EQ(refusal(""), "is a zip file cut short");
  EXPECT_EQ(refusal(zip_of({{"a", "x"}}, {.method = 8})),
            "a is compressed, which torch does not do; save the file again");
  EXPECT_EQ(refusal(zip_of({{"a", "x"}}, {.flags = 1})), "a is encrypted");
  EXPECT_EQ(refusal(zip_of({{"a", "x"}, {"a", "y"}})), "holds a twice");
  std::string file = zip_of({{"a", "x"}, {"b", "y"}});
  file[30] = 'c';
  EXPECT_EQ(refusal(file), "a has another name where the zip file's directory says that it is");
  file[0] = 'Q';
  EXPECT_EQ(refusal(file), "a is not where the zip file's directory says");
  file = zip_of({{"a", "x"}});
  EXPECT_EQ(refusal(file.substr(1)), "is a zip file whose directory is not where it should be");
  file[file.find("PK\x01\x02")] = 'Q';
  EXPECT_EQ(refusal(file), "is a zip file whose directory is damaged");
  file = zip_of({{"a", "x"}}, {.is_long = true});
  file[file.find("PK\x06\x06")] = 'Q';
  EXPECT_EQ(refusal(file), "is a zip file whose Zip64 record is not where it should be");
}

// Whatever the damage, entries lie in the file or there is a refusal.
TEST(StoredZipTest, DamagedFilesNeverLeadOutside) {
  PhiloxStream random(1, 0);
  for (const bool is_long : {false, true}) {
    const std::string good =
        zip_of({{"a/b", "hello"}, {"c", std::string(40, 'x')}}, {.is_long = is_long});
    for (size_t size = 0; size < good.size(); ++size) {
      EXPECT_NE(refusal(good.substr(0, size)), "taken") << size;
    }
    for (int round = 0; round < 20'000; ++round) {
      std::string bytes = good;
      for (uint32_t flips = 1 + random.below(3); flips > 0; --flips) {
        bytes[random.below(static_cast<uint32_t>(good.size()))] ^=
            static_cast<char>(1 << random.below(8));
      }
      try {
        for (const ZipEntry& entry : stored_zip_entries(bytes_of(bytes))) has_its_crc(entry);
      } catch (const Refusal&) {
      }
    }
  }
}

}  // namespace
}  // namespace cloze::formats
