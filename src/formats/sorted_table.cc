#include "formats/sorted_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/error.h"
#include "formats/crc32c.h"

namespace cloze::formats {
namespace {

constexpr uint64_t kMagic = 0xdb4775248b80fb57u;
constexpr uint64_t kHandlesBytes = 40;
constexpr uint64_t kFooterBytes = kHandlesBytes + sizeof kMagic;
constexpr uint64_t kTrailerBytes = 1 + sizeof(uint32_t);
constexpr size_t kRestartInterval = 16;
constexpr size_t kBlockBytes = 256 << 10;
constexpr size_t kMaxEntries = 1'000'000;
constexpr size_t kMaxKeyBytes = 1024;

uint32_t fixed32(const char* bytes) {
  uint32_t value = 0;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

void append_fixed32(uint32_t value, std::string& out) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append_varint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

// Takes numbers and texts off the front of some bytes of the file.
class Cursor {
 public:
  Cursor(std::string_view bytes, uint64_t offset) : bytes_(bytes), offset_(offset) {}

  bool at_end() const { return bytes_.empty(); }
  uint64_t offset() const { return offset_; }
  [[noreturn]] void refuse(const char* message) const { throw ParseError{message, offset_}; }

  std::string_view take(uint64_t count) {
    if (count > bytes_.size()) refuse("a length points outside its block");
    const std::string_view part = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    offset_ += count;
    return part;
  }

  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<uint8_t>(take(1)[0]);
      if (shift == 63 && byte > 1) break;
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    refuse("a number of more than 64 bits");
  }

 private:
  std::string_view bytes_;
  uint64_t offset_;
};

struct Handle {
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

Handle take_handle(Cursor& cursor) {
  const uint64_t offset = cursor.varint();
  return {offset, cursor.varint()};
}

class Reader {
 public:
  explicit Reader(std::span<const std::byte> file)
      : file_(reinterpret_cast<const char*>(file.data()), file.size()) {}

  std::vector<TableEntry> read() {
    Cursor footer(file_.substr(file_.size() - kFooterBytes, kHandlesBytes),
                  file_.size() - kFooterBytes);
    block(take_handle(footer), footer);  // not used here, but must be intact
    std::vector<TableEntry> index;
    append_entries(take_handle(footer), footer, index);
    std::vector<TableEntry> entries;
    uint64_t end = 0;
    for (const TableEntry& pointer : index) {
      Cursor cursor(pointer.value, footer.offset());
      const Handle handle = take_handle(cursor);
      // Overlapping blocks would be read again and again, and fill the memory.
      if (handle.offset < end) cursor.refuse("points into the previous block");
      append_entries(handle, cursor, entries);
      end = handle.offset + handle.bytes;
    }
    return entries;
  }

 private:
  // The block's bytes without compression and CRC, which are checked.
  std::string_view block(const Handle& handle, const Cursor& pointer) const {
    const uint64_t most = file_.size() - kFooterBytes;
    if (handle.offset > most || most - handle.offset < kTrailerBytes ||
        handle.bytes > most - handle.offset - kTrailerBytes) {
      pointer.refuse("points to a block outside the file");
    }
    const std::string_view whole = file_.substr(handle.offset, handle.bytes + kTrailerBytes);
    const std::string_view checked = whole.substr(0, handle.bytes + 1);
    if (masked_crc32c(std::as_bytes(std::span(checked))) != fixed32(&whole[handle.bytes + 1])) {
      throw ParseError{"a block's CRC does not match its bytes", handle.offset};
    }
    if (whole[handle.bytes] != 0) throw ParseError{"the block is compressed", handle.offset};
    return whole.substr(0, handle.bytes);
  }

  void append_entries(const Handle& handle, const Cursor& pointer,
                      std::vector<TableEntry>& entries) const {
    const std::string_view bytes = block(handle, pointer);
    Cursor cursor(bytes.substr(0, entries_bytes(bytes, handle.offset)), handle.offset);
    std::string key;
    while (!cursor.at_end()) {
      const uint64_t shared = cursor.varint();
      const uint64_t rest = cursor.varint();
      const uint64_t value_bytes = cursor.varint();
      if (shared > key.size()) cursor.refuse("a key shares more bytes than the previous key has");
      if (rest > kMaxKeyBytes - shared) cursor.refuse("a key longer than 1 KiB");
      if (entries.size() == kMaxEntries) cursor.refuse("more than a million entries");
      key.resize(shared);
      key += cursor.take(rest);
      if (!entries.empty() && entries.back().key >= key)
        cursor.refuse("the keys are not in ascending order");
      entries.push_back({key, std::string(cursor.take(value_bytes))});
    }
  }

  // The bytes that lie before the restart offsets. They are for searching, and not used here.
  static uint64_t entries_bytes(std::string_view block, uint64_t offset) {
    constexpr uint64_t kWord = sizeof(uint32_t);
    if (block.size() < kWord) throw ParseError{"a block without an end", offset};
    const uint64_t restarts = fixed32(&block[block.size() - kWord]);
    if (restarts > block.size() / kWord - 1) throw ParseError{"more restarts than fit", offset};
    return block.size() - kWord * (restarts + 1);
  }

  std::string_view file_;
};

class BlockWriter {
 public:
  void add(std::string_view key, std::string_view value) {
    const bool is_restart = count_++ % kRestartInterval == 0;
    if (is_restart) restarts_.push_back(static_cast<uint32_t>(bytes_.size()));
    const auto border = std::mismatch(key.begin(), key.end(), last_key_.begin(), last_key_.end());
    const size_t shared = is_restart ? 0 : static_cast<size_t>(border.first - key.begin());
    append_varint(shared, bytes_);
    append_varint(key.size() - shared, bytes_);
    append_varint(value.size(), bytes_);
    bytes_ += key.substr(shared);
    bytes_ += value;
    last_key_ = key;
  }

  bool is_full() const { return bytes_.size() >= kBlockBytes; }
  const std::string& last_key() const { return last_key_; }

  // Appends the block to `file` and begins another; returns the handle's bytes.
  std::string flush(std::string& file) {
    if (restarts_.empty()) restarts_.push_back(0);
    for (const uint32_t restart : restarts_) append_fixed32(restart, bytes_);
    append_fixed32(static_cast<uint32_t>(restarts_.size()), bytes_);
    std::string handle;
    append_varint(file.size(), handle);
    append_varint(bytes_.size(), handle);
    bytes_ += '\0';  // not compressed
    file += bytes_;
    append_fixed32(masked_crc32c(std::as_bytes(std::span(bytes_))), file);
    *this = BlockWriter();
    return handle;
  }

 private:
  std::string bytes_;
  std::string last_key_;
  std::vector<uint32_t> restarts_;
  size_t count_ = 0;
};

// The shortest key that is not below `key`, whose exact text is no longer needed.
std::string short_successor(const std::string& key) {
  for (size_t i = 0; i < key.size(); ++i) {
    if (key[i] == '\xff') continue;
    std::string successor = key.substr(0, i + 1);
    ++successor[i];
    return successor;
  }
  return key;
}

}  // namespace

Result<std::vector<TableEntry>> parse_sorted_table(std::span<const std::byte> file) {
  if (file.size() < kFooterBytes) {
    return ParseError{fmt::format("{} bytes are too few for a table", file.size()), 0};
  }
  uint64_t magic = 0;
  const uint64_t magic_at = file.size() - sizeof magic;
  std::memcpy(&magic, file.data() + magic_at, sizeof magic);
  if (magic != kMagic) return ParseError{"it does not end as a table does", magic_at};
  try {
    return Reader(file).read();
  } catch (const ParseError& error) {
    return error;
  }
}

std::string sorted_table_text(std::span<const TableEntry> entries) {
  std::string file;
  BlockWriter data;
  BlockWriter index;
  for (size_t i = 0; i < entries.size(); ++i) {
    CLOZE_CHECK(i == 0 || entries[i - 1].key < entries[i].key, "key {} does not rise",
                entries[i].key);
    data.add(entries[i].key, entries[i].value);
    const bool is_last = i + 1 == entries.size();
    if (!is_last && !data.is_full()) continue;
    const std::string key = is_last ? short_successor(data.last_key()) : data.last_key();
    index.add(key, data.flush(file));
  }
  std::string footer = BlockWriter().flush(file);
  footer += index.flush(file);
  footer.resize(kHandlesBytes);
  footer.append(reinterpret_cast<const char*>(&kMagic), sizeof kMagic);
  return file + footer;
}

}  // namespace cloze::formats
