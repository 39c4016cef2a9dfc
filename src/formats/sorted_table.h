// Sorted tables: the file of keys and values that LevelDB calls a table, and that TensorFlow keeps
// the index of a checkpoint in.
//
//   file   := block... | meta block | index block | footer
//   block  := entry... | u32 restart offset... | u32 number of restarts | u8 compression | u32 CRC
//   entry  := varint shared | varint not shared | varint value bytes | key's rest | value
//   footer := handle of the meta block | handle of the index block | zeros up to 40 bytes | magic
//   handle := varint offset | varint bytes, without the 5 of compression and CRC
//
// An entry begins with what it shares with the key before; every 16th shares nothing. The CRC is
// CRC32C, masked, of block and compression. The index block has an entry per data block: a key that
// is not below any of the block's, and its handle. Blocks are not compressed; TensorFlow writes
// them so too.
//
// LevelDB's own library is not used, because it trusts the lengths inside a block: with a correct
// CRC, which anybody can compute, they can lead it out of the block.
// Source: github.com/google/leveldb doc/table_format.md; tensorflow/core/lib/io/table_builder.cc.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace cloze::formats {

struct TableEntry {
  std::string key;
  std::string value;
};

// All entries, in order. Refused, with the offset: wrong CRCs, lengths that lead outside,
// compressed blocks, keys that are not ascending or exceed 1 KiB, more than a million entries.
Result<std::vector<TableEntry>> parse_sorted_table(std::span<const std::byte> file);

// The bytes of a table. InternalError when the keys are not ascending. TensorFlow's writer makes
// the same bytes as long as one data block (256 KiB, some 4,000 tensors) holds all.
std::string sorted_table_text(std::span<const TableEntry> entries);

}  // namespace cloze::formats
