#include "formats/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <ranges>
#include <utility>
#include <vector>

#include "base/error.h"
#include "platform/files/file.h"

namespace cloze::formats {
namespace {

using nlohmann::json;

// Reads characters and keeps count where all copies can see it: the parser reports no positions
// for the keys it has read.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, uint64_t* count) : at_(at), count_(count) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    ++at_;
    ++*count_;
    return *this;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  uint64_t* count_;
};

constexpr size_t kEscapeSize = 6;  // of \uXXXX

// Shows at most 80 bytes of a text, whole code points, and then how long it is.
std::string excerpt(std::string_view text) {
  constexpr size_t kShown = 80;
  if (text.size() <= kShown) return std::string(text);
  size_t end = kShown;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return fmt::format("{}... ({} bytes)", text.substr(0, end), text.size());
}

// The parser's message without its place, and without most of a long text that it read last.
std::string message_of(const json::exception& error) {
  constexpr std::string_view kLastRead = "last read: '";
  std::string_view what = error.what();
  if (const size_t place = what.find(": "); place != std::string_view::npos) {
    what.remove_prefix(place + 2);
  }
  const size_t begin = what.find(kLastRead);
  const size_t end = what.rfind('\'');
  if (begin == std::string_view::npos || end < begin + kLastRead.size()) return std::string(what);
  const size_t text = begin + kLastRead.size();
  return fmt::format("{}{}{}", what.substr(0, text), excerpt(what.substr(text, end - text)),
                     what.substr(end));
}

// Takes the parser's events and builds the value, refusing deep nesting and repeated keys.
class Builder {
 public:
  using number_integer_t = int64_t;
  using number_unsigned_t = uint64_t;
  using number_float_t = double;
  using string_t = std::string;
  using binary_t = json::binary_t;

  explicit Builder(const uint64_t& position) : position_(position) {}

  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(number_integer_t value) { return add(value); }
  bool number_unsigned(number_unsigned_t value) { return add(value); }
  bool number_float(number_float_t value, const string_t&) { return add(value); }
  bool string(string_t& value) { return add(std::move(value)); }
  bool binary(binary_t&) { return fail("binary value"); }
  bool start_object(size_t) { return open(Json::object()); }
  bool end_object() { return close(); }
  bool start_array(size_t) { return open(Json::array()); }
  bool end_array() { return close(); }

  bool key(string_t& name) {
    if (open_.back()->contains(name))
      return fail(fmt::format("key \"{}\" appears twice", excerpt(name)));
    key_ = std::move(name);
    return true;
  }

  bool parse_error(size_t position, const std::string& token, const json::exception& error) {
    const uint64_t offset = position > 0 ? position - 1 : 0;
    if (error.id == 406) {  // out_of_range.406: the number does not fit a double
      error_ = {fmt::format("number {} is out of range", excerpt(token)), position_};
      return false;
    }
    error_ = {message_of(error), offset};
    return false;
  }

  Json take() { return std::move(root_); }
  const std::optional<ParseError>& error() const { return error_; }

 private:
  bool fail(std::string message) {
    error_ = {std::move(message), position_ > 0 ? position_ - 1 : 0};
    return false;
  }

  Json* place(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Json& parent = *open_.back();
    if (parent.is_object()) return &(parent[key_] = std::move(value));
    parent.push_back(std::move(value));
    return &parent.back();
  }
  bool add(Json value) {
    place(std::move(value));
    return true;
  }
  bool open(Json container) {
    if (open_.size() >= kMaxJsonDepth) {
      return fail(fmt::format("nested deeper than {} levels", kMaxJsonDepth));
    }
    open_.push_back(place(std::move(container)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  const uint64_t& position_;
  Json root_;
  std::vector<Json*> open_;  // from the root to the container being filled
  std::string key_;
  std::optional<ParseError> error_;
};

// The code unit of the escape that begins at `at`: \uXXXX. None when there is none.
std::optional<unsigned> escaped_unit(std::string_view text, size_t at) {
  if (text.size() < at + kEscapeSize || text[at] != '\\' || text[at + 1] != 'u') {
    return std::nullopt;
  }
  unsigned unit = 0;
  const char* const end = text.data() + at + kEscapeSize;
  const auto read = std::from_chars(text.data() + at + 2, end, unit, 16);
  return read.ptr == end ? std::optional(unit) : std::nullopt;
}

bool is_high_surrogate(unsigned unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool is_low_surrogate(unsigned unit) { return unit >= 0xDC00 && unit < 0xE000; }

// A text or a number as JSON. Bytes that are not UTF-8 become U+FFFD, numbers that are not finite
// become null.
std::string library_text(const json& scalar) {
  return scalar.dump(-1, ' ', false, json::error_handler_t::replace);
}

// Writes a value and what it contains.
class Writer {
 public:
  explicit Writer(int indent) : indent_(indent) {}

  void write(const Json& value) {
    if (value.is_object()) {
      write_items(value.items(), '{', '}', [&](const JsonMember& member) {
        text_ += library_text(member.name);
        text_ += indent_ < 0 ? ":" : ": ";
        write(member.value);
      });
    } else if (value.is_array()) {
      write_items(value, '[', ']', [&](const Json& item) { write(item); });
    } else {
      write_scalar(value);
    }
  }
  std::string take() { return std::move(text_); }

 private:
  void write_scalar(const Json& value) {
    if (value.is_null()) text_ += "null";
    if (value.is_boolean()) text_ += value.get<bool>() ? "true" : "false";
    if (value.is_number_float()) text_ += library_text(value.get<double>());
    if (value.is_number_unsigned()) {
      text_ += fmt::format("{}", value.get<uint64_t>());
    } else if (value.is_number_integer()) {
      text_ += fmt::format("{}", value.get<int64_t>());
    }
    if (value.is_string()) text_ += library_text(value.get<std::string>());
  }

  template <class Items, class WriteOne>
  void write_items(const Items& items, char open, char close, WriteOne write_one) {
    text_ += open;
    ++level_;
    bool is_first = true;
    for (const auto& item : items) {
      if (!std::exchange(is_first, false)) text_ += ',';
      start_line();
      write_one(item);
    }
    --level_;
    if (!is_first) start_line();
    text_ += close;
  }

  void start_line() {
    if (indent_ < 0) return;
    text_ += '\n';
    text_.append(static_cast<size_t>(level_ * indent_), ' ');
  }

  int indent_;
  int level_ = 0;
  std::string text_;
};

}  // namespace

TextPosition position_at(std::string_view text, uint64_t offset) {
  const std::string_view before = text.substr(0, std::min<uint64_t>(offset, text.size()));
  const size_t newline = before.rfind('\n');
  const size_t line_start = newline == std::string_view::npos ? 0 : newline + 1;
  return {.line = 1 + std::count(before.begin(), before.end(), '\n'),
          .column = 1 + static_cast<int64_t>(before.size() - line_start)};
}

Result<Json> parse_json(std::string_view text) {
  uint64_t position = 0;
  Builder builder(position);
  const bool parsed = json::sax_parse(CountingIterator(text.data(), &position),
                                      CountingIterator(text.data() + text.size(), &position),
                                      &builder, json::input_format_t::json, /*strict=*/true,
                                      /*ignore_comments=*/true);
  if (builder.error()) return *builder.error();
  CLOZE_CHECK(parsed, "the JSON parser failed without an error");
  return builder.take();
}

std::string replace_lone_surrogates(std::string_view text) {
  std::string replaced(text);
  for (size_t at = text.find('\\'); at < text.size(); at = text.find('\\', at)) {
    const unsigned unit = escaped_unit(text, at).value_or(0);
    if (is_high_surrogate(unit) &&
        is_low_surrogate(escaped_unit(text, at + kEscapeSize).value_or(0))) {
      at += 2 * kEscapeSize;
    } else if (is_high_surrogate(unit) || is_low_surrogate(unit)) {
      replaced.replace(at, kEscapeSize, "\\ufffd");
      at += kEscapeSize;
    } else {
      at += 2;
    }
  }
  return replaced;
}

std::string message_at(const std::filesystem::path& file, std::string_view text,
                       const ParseError& error) {
  const TextPosition at = position_at(text, error.offset);
  return fmt::format("{}:{}:{}: {}", file.string(), at.line, at.column, error.message);
}

Json read_json_file(const std::filesystem::path& path) {
  const std::string text = platform::read_file(path);
  Result<Json> result = parse_json(text);
  if (!result) throw_data_error("{}", message_at(path, text, result.error()));
  return std::move(result).value();
}

std::string Json::dump(int indent) const {
  Writer writer(indent);
  writer.write(*this);
  return writer.take();
}

std::string json_text(const Json& value) { return value.dump(2) + "\n"; }

std::string json_line(const Json& value) { return value.dump(); }

std::string value_differences(const Json& stored, const Json& current, std::string_view word) {
  std::map<std::string, std::string> differences;
  for (const auto& [name, value] : current.items()) {
    const Json* found = stored.find(name);
    if (!found || *found == value) continue;
    differences[name] =
        fmt::format("{} {}, {} {}", name, json_line(*found), word, json_line(value));
  }
  return fmt::format("{}", fmt::join(std::views::values(differences), "; "));
}

}  // namespace cloze::formats
