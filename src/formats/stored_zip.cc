#include "formats/stored_zip.h"

#include <array>
#include <cstring>
#include <set>

#include "formats/refusal.h"

namespace cloze::formats {
namespace {

using Bytes = std::span<const std::byte>;

constexpr uint32_t kLocalMark = 0x04034b50;
constexpr uint32_t kDirectoryMark = 0x02014b50;
constexpr uint32_t kEndMark = 0x06054b50;
constexpr uint32_t kLongEndMark = 0x06064b50;         // Zip64's
constexpr uint32_t kLongEndLocatorMark = 0x07064b50;  // says where that is
constexpr uint64_t kLocalBytes = 30, kDirectoryBytes = 46, kEndBytes = 22, kLongEndBytes = 56,
                   kLocatorBytes = 20;
constexpr uint16_t kLongField = 1;  // the extra field with numbers of 64 bits
constexpr uint16_t kEncrypted = 1;  // a flag
constexpr uint16_t kStored = 0;     // a method

// A little-endian number; Refusal where the bytes end before it.
template <class Number>
Number number_at(Bytes bytes, uint64_t at) {
  if (at > bytes.size() || bytes.size() - at < sizeof(Number)) refuse("is a zip file cut short");
  Number number;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

Bytes part_of(Bytes bytes, uint64_t at, uint64_t size) {
  if (at > bytes.size() || size > bytes.size() - at) refuse("is a zip file cut short");
  return bytes.subspan(at, size);
}

std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Directory {
  uint64_t entries = 0;
  uint64_t bytes = 0;
  uint64_t at = 0;
};

// Where the last record begins: the one whose comment ends with the file.
uint64_t end_of_directory(Bytes file) {
  constexpr uint64_t kMostComment = 0xffff;
  for (uint64_t comment = 0; comment <= kMostComment && comment + kEndBytes <= file.size();
       ++comment) {
    const uint64_t at = file.size() - kEndBytes - comment;
    if (number_at<uint32_t>(file, at) == kEndMark &&
        number_at<uint16_t>(file, at + 20) == comment) {
      return at;
    }
  }
  refuse("is a zip file cut short");
}

// Takes Zip64's record, where there is one before `end`; `end` becomes its place.
void take_long_end(Bytes file, uint64_t& end, Directory& directory) {
  if (end < kLocatorBytes) return;
  const uint64_t locator = end - kLocatorBytes;
  if (number_at<uint32_t>(file, locator) != kLongEndLocatorMark) return;
  const auto at = number_at<uint64_t>(file, locator + 8);
  if (at > locator || locator - at < kLongEndBytes ||
      number_at<uint32_t>(file, at) != kLongEndMark) {
    refuse("is a zip file whose Zip64 record is not where it should be");
  }
  directory = {.entries = number_at<uint64_t>(file, at + 32),
               .bytes = number_at<uint64_t>(file, at + 40),
               .at = number_at<uint64_t>(file, at + 48)};
  end = at;
}

Directory directory_of(Bytes file) {
  uint64_t end = end_of_directory(file);
  Directory directory{.entries = number_at<uint16_t>(file, end + 10),
                      .bytes = number_at<uint32_t>(file, end + 12),
                      .at = number_at<uint32_t>(file, end + 16)};
  take_long_end(file, end, directory);
  if (directory.at > end || directory.bytes != end - directory.at ||
      directory.entries > directory.bytes / kDirectoryBytes) {
    refuse("is a zip file whose directory is not where it should be");
  }
  return directory;
}

// An entry as the directory has it.
struct Row {
  ZipEntry entry;
  uint64_t size = 0;
  uint64_t stored = 0;
  uint64_t header = 0;
  uint64_t next = 0;  // where the next row begins
};

// The numbers that do not fit in 32 bits are in an extra field, in this order.
void read_long_numbers(Bytes extra, Row& row) {
  constexpr uint32_t kElsewhere = 0xffffffff;
  uint64_t* const numbers[] = {&row.size, &row.stored, &row.header};
  for (uint64_t at = 0; at + 4 <= extra.size();) {
    const auto size = number_at<uint16_t>(extra, at + 2);
    const Bytes field = part_of(extra, at + 4, size);
    if (number_at<uint16_t>(extra, at) == kLongField) {
      uint64_t place = 0;
      for (uint64_t* number : numbers) {
        if (*number != kElsewhere) continue;
        *number = number_at<uint64_t>(field, place);
        place += sizeof *number;
      }
      return;
    }
    at += uint64_t{4} + size;
  }
}

// `end`: of the directory.
Row row_at(Bytes file, uint64_t at, uint64_t end) {
  const Bytes directory = file.first(end);
  if (number_at<uint32_t>(directory, at) != kDirectoryMark) {
    refuse("is a zip file whose directory is damaged");
  }
  const auto name = number_at<uint16_t>(directory, at + 28);
  const auto extra = number_at<uint16_t>(directory, at + 30);
  const auto comment = number_at<uint16_t>(directory, at + 32);
  Row row{.entry = {.name = text_of(part_of(directory, at + kDirectoryBytes, name)),
                    .crc = number_at<uint32_t>(directory, at + 16)},
          .size = number_at<uint32_t>(directory, at + 24),
          .stored = number_at<uint32_t>(directory, at + 20),
          .header = number_at<uint32_t>(directory, at + 42),
          .next = at + kDirectoryBytes + name + extra + comment};
  read_long_numbers(part_of(directory, at + kDirectoryBytes + name, extra), row);
  if ((number_at<uint16_t>(directory, at + 8) & kEncrypted) != 0) {
    refuse("{} is encrypted", row.entry.name);
  }
  if (number_at<uint16_t>(directory, at + 10) != kStored || row.size != row.stored) {
    refuse("{} is compressed, which torch does not do; save the file again", row.entry.name);
  }
  return row;
}

// `before`: the file up to its directory.
ZipEntry entry_of(Bytes before, const Row& row) {
  ZipEntry entry = row.entry;
  if (number_at<uint32_t>(before, row.header) != kLocalMark) {
    refuse("{} is not where the zip file's directory says", entry.name);
  }
  const auto name = number_at<uint16_t>(before, row.header + 26);
  const auto extra = number_at<uint16_t>(before, row.header + 28);
  if (text_of(part_of(before, row.header + kLocalBytes, name)) != entry.name) {
    refuse("{} has another name where the zip file's directory says that it is", entry.name);
  }
  entry.bytes = part_of(before, row.header + kLocalBytes + name + extra, row.size);
  return entry;
}

using Tables = std::array<std::array<uint32_t, 256>, 8>;

// tables[s][b]: the checksum of byte b followed by s zero bytes, for eight bytes at a time (Kounavis
// and Berry, "slicing by 8", 2005).
constexpr Tables make_tables() {
  constexpr uint32_t kReflectedPolynomial = 0xEDB88320u;
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) ? kReflectedPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (size_t slice = 1; slice < tables.size(); ++slice) {
    for (uint32_t byte = 0; byte < 256; ++byte) {
      const uint32_t before = tables[slice - 1][byte];
      tables[slice][byte] = (before >> 8) ^ tables[0][before & 0xFF];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

}  // namespace

std::vector<ZipEntry> stored_zip_entries(std::span<const std::byte> file) {
  const Directory directory = directory_of(file);
  const uint64_t end = directory.at + directory.bytes;
  std::vector<ZipEntry> entries;
  std::set<std::string_view> names;
  uint64_t at = directory.at;
  for (uint64_t i = 0; i < directory.entries; ++i) {
    const Row row = row_at(file, at, end);
    entries.push_back(entry_of(file.first(directory.at), row));
    if (!names.insert(row.entry.name).second) refuse("holds {} twice", row.entry.name);
    at = row.next;
  }
  if (at != end) refuse("is a zip file whose directory is damaged");
  return entries;
}

bool has_its_crc(const ZipEntry& entry) { return crc32(entry.bytes) == entry.crc; }

uint32_t crc32(std::span<const std::byte> bytes) {
  uint32_t crc = ~0u;
  while (bytes.size() >= 8) {
    const uint32_t low = number_at<uint32_t>(bytes, 0) ^ crc;
    const auto high = number_at<uint32_t>(bytes, 4);
    crc = kTables[7][low & 0xFF] ^ kTables[6][(low >> 8) & 0xFF] ^ kTables[5][(low >> 16) & 0xFF] ^
          kTables[4][low >> 24] ^ kTables[3][high & 0xFF] ^ kTables[2][(high >> 8) & 0xFF] ^
          kTables[1][(high >> 16) & 0xFF] ^ kTables[0][high >> 24];
    bytes = bytes.subspan(8);
  }
  for (const std::byte byte : bytes) {
    crc = (crc >> 8) ^ kTables[0][(crc ^ std::to_integer<uint32_t>(byte)) & 0xFF];
  }
  return ~crc;
}

}  // namespace cloze::formats
