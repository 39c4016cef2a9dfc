// JSON text to nlohmann::json, with the limits that text from outside needs: nesting of at most 64,
// no key twice in one object, valid UTF-8, numbers in range. Comments (// and /* */) are skipped.
// Source: RFC 8259; comments as in JSONC.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cloze::formats {

inline constexpr int kMaxJsonDepth = 64;

// A place in a text, both counted from 1; the column counts bytes.
struct TextPosition {
  int64_t line = 1;
  int64_t column = 1;
};
TextPosition position_at(std::string_view text, uint64_t offset);
// "config.json:3:14: MESSAGE", for an error in the text of a file.
std::string message_at(const std::filesystem::path& file, std::string_view text,
                       const ParseError& error);

// The error's message does not name the place; its offset does.
Result<nlohmann::json> parse_json(std::string_view text);
// The text with \ufffd for each escape \ud800 to \udfff that is not half of a pair. RFC 8259 leaves
// such escapes open: Python writes and reads them, parse_json refuses them.
std::string replace_lone_surrogates(std::string_view text);
// DataError "config.json:3:14: ..." when the text is not such JSON.
nlohmann::json read_json_file(const std::filesystem::path& path);

// Text of a value, two spaces a level, newline at the end. Bytes that are not UTF-8 become U+FFFD,
// numbers that are not finite become null.
std::string json_text(const nlohmann::ordered_json& value);
// The same on one line, without the newline.
std::string json_line(const nlohmann::ordered_json& value);

// How two objects of named values differ, for a message: "seed 1234, this run has 5; ...". Lists
// the names that both have and whose values differ, with `word` ("this run has") between the two
// values. Empty when none does; a name that only one of them has is left alone.
std::string value_differences(const nlohmann::json& stored, const nlohmann::json& current,
                              std::string_view word);

// What is not finite is written as null.
inline double number_or_nan(const nlohmann::json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

// The value, null for none.
template <class T>
nlohmann::ordered_json or_null(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

}  // namespace cloze::formats
