// The wire form of protocol buffers, as far as inference reads and writes it, and models for other
// runtimes: for that much they need no library, and a message may be larger than memory. Unlike
// google/protobuf/, which the rest of the room reads and writes with.
//
//   message   fields, each a key (8 number + type, a varint) and a value
//   type      0 varint, 1 eight bytes, 2 length (a varint) and bytes, 5 four bytes
//
// Source: protobuf.dev/programming-guides/encoding.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cloze::formats {

enum class WireType { kVarint = 0, kEightBytes = 1, kBytes = 2, kFourBytes = 5 };

struct WireField {
  uint64_t number = 0;
  WireType type = WireType::kVarint;
  uint64_t value = 0;           // of a varint, or of four or eight bytes
  std::string_view bytes = {};  // of the others
};

// The fields of a message in their order; no value where it is none, or has groups.
std::optional<std::vector<WireField>> wire_fields(std::string_view message);

// Append a field; one that is 0, the default, is left out.
void append_varint(uint64_t number, uint64_t value, std::string& message);
void append_four_bytes(uint64_t number, uint32_t value, std::string& message);
void append_bytes(uint64_t number, std::string_view bytes, std::string& message);  // also empty
// Appends one of a list, or what has to be there: also where it is 0.
void append_element(uint64_t number, uint64_t value, std::string& message);
// Appends the beginning of a field of so many bytes, which the caller appends next.
void append_start(uint64_t number, uint64_t bytes, std::string& message);

}  // namespace cloze::formats
