#include "formats/wire_message.h"

#include <cstring>

namespace cloze::formats {
namespace {

class WireReader {
 public:
  explicit WireReader(std::string_view rest) : rest_(rest) {}

  bool is_at_end() const { return rest_.empty(); }

  std::optional<WireField> field() {
    constexpr uint64_t kTypeBits = 3;
    const auto key = varint();
    if (!key || *key >> kTypeBits == 0 || *key > UINT32_MAX) return std::nullopt;
    WireField field{.number = *key >> kTypeBits, .type = static_cast<WireType>(*key & 7)};
    switch (field.type) {
      case WireType::kVarint:
        return with(field, varint());
      case WireType::kEightBytes:
        return with(field, whole<uint64_t>());
      case WireType::kFourBytes:
        return with(field, whole<uint32_t>());
      case WireType::kBytes:
        break;
      default:
        return std::nullopt;
    }
    const auto bytes = varint();
    if (!bytes || *bytes > rest_.size()) return std::nullopt;
    field.bytes = taken(*bytes);
    return field;
  }

 private:
  template <class Number>
  static std::optional<WireField> with(WireField field, const std::optional<Number>& value) {
    if (!value) return std::nullopt;
    field.value = *value;
    return field;
  }

  std::string_view taken(uint64_t bytes) {
    const std::string_view part = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return part;
  }

  // Seven bits a byte, the lowest first; the last byte has no eighth bit.
  std::optional<uint64_t> varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<uint8_t>(taken(1)[0]);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }

  template <class Number>
  std::optional<Number> whole() {
    Number number;
    if (rest_.size() < sizeof number) return std::nullopt;
    std::memcpy(&number, taken(sizeof number).data(), sizeof number);
    return number;
  }

  std::string_view rest_;
};

void append_number(uint64_t value, std::string& message) {
  for (; value >= 0x80; value >>= 7) message += static_cast<char>(value | 0x80);
  message += static_cast<char>(value);
}

void append_key(uint64_t number, WireType type, std::string& message) {
  append_number(number << 3 | static_cast<uint64_t>(type), message);
}

}  // namespace

std::optional<std::vector<WireField>> wire_fields(std::string_view message) {
  std::vector<WireField> fields;
  for (WireReader reader(message); !reader.is_at_end();) {
    const auto field = reader.field();
    if (!field) return std::nullopt;
    fields.push_back(*field);
  }
  return fields;
}

void append_varint(uint64_t number, uint64_t value, std::string& message) {
  if (value != 0) append_element(number, value, message);
}

void append_element(uint64_t number, uint64_t value, std::string& message) {
  append_key(number, WireType::kVarint, message);
  append_number(value, message);
}

void append_four_bytes(uint64_t number, uint32_t value, std::string& message) {
  if (value == 0) return;
  append_key(number, WireType::kFourBytes, message);
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  message.append(bytes, sizeof value);
}

void append_bytes(uint64_t number, std::string_view bytes, std::string& message) {
  append_start(number, bytes.size(), message);
  message += bytes;
}

void append_start(uint64_t number, uint64_t bytes, std::string& message) {
  append_key(number, WireType::kBytes, message);
  append_number(bytes, message);
}

}  // namespace cloze::formats
