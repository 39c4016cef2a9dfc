// Reads zip files whose entries are stored as they are, as torch's are, also of 4 GiB and more (Zip64).
// Entries are views of the file; nothing is copied.
//
// The numbers of a file are checked before they are followed: its central directory ends where its last
// record begins, each entry lies before the directory, and the header at an entry has the entry's name.
// Not read: compressed or encrypted entries, files in several parts.
//
// Errors: Refusal (refusal.h). Source: PKWARE's APPNOTE.TXT 6.3, 4.3 and 4.5.3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace cloze::formats {

struct ZipEntry {
  std::string_view name;
  uint32_t crc = 0;  // as the directory says
  std::span<const std::byte> bytes;
};

// The entries in the order of the directory; no name comes twice.
std::vector<ZipEntry> stored_zip_entries(std::span<const std::byte> file);

// Says whether an entry's bytes have its CRC.
bool has_its_crc(const ZipEntry& entry);

// CRC-32 of zip and PNG: polynomial 0x04C11DB7, reflected.
uint32_t crc32(std::span<const std::byte> bytes);

}  // namespace cloze::formats
