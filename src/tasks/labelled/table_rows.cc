#include "tasks/labelled/table_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/error.h"
#include "formats/delimited_text.h"
#include "formats/json.h"
#include "tasks/labelled/label_file.h"
#include "text/ascii.h"
#include "text/utf8.h"

namespace cloze::tasks {
namespace {

namespace fs = std::filesystem;

void set_header(const std::vector<std::string>& header, const fs::path& file,
                TableReceiver& table) {
  for (const std::string& column : header) {
    if (std::ranges::count(header, column) == 1) continue;
    refuse_line(file, 1, fmt::format("two columns are called {}; rename one", column));
  }
  table.set_header(header);
}

TableValue trimmed(TableValue value, const fs::path& file, int64_t line) {
  for (std::string& one : value.texts) {
    one = std::string(text::trim_ascii(one));
    if (!text::is_valid_utf8(one)) refuse_line(file, line, "is not UTF-8; convert the file");
  }
  return value;
}

char delimiter_of(std::string_view header) {
  for (const char delimiter : {'\t', ',', ';'}) {
    if (header.find(delimiter) != std::string_view::npos) return delimiter;
  }
  return ',';
}

void read_delimited(std::string_view text, const fs::path& file, bool quotes,
                    TableReceiver& table) {
  const char delimiter = delimiter_of(text.substr(0, text.find_first_of("\r\n")));
  formats::DelimitedRows rows(text, {.delimiter = delimiter, .has_quotes = quotes}, file);
  if (!rows.next()) throw_user_error("{} is empty", file.string());
  const std::vector<std::string> header = rows.fields();
  set_header(header, file, table);
  while (rows.next()) {
    const std::vector<std::string>& fields = rows.fields();
    if (fields.size() != header.size()) {
      refuse_line(
          file, rows.line(),
          fmt::format("{} fields instead of the header's {}; enclose a text that holds '{}' or a "
                      "line break in double quotes",
                      fields.size(), header.size(),
                      delimiter == '\t' ? "\\t" : std::string(1, delimiter)));
    }
    table.add(rows.line(), [&](const std::string& column) {
      const auto place = std::ranges::find(header, column) - header.begin();
      return trimmed({{fields[static_cast<size_t>(place)]}}, file, rows.line());
    });
  }
}

std::string json_text_of(const formats::Json& value, const fs::path& file, int64_t line,
                         const std::string& column) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array() || value.is_object()) {
    refuse_line(file, line,
                fmt::format("{} is an {}; it must be a text, a number, true or false", column,
                            value.type_name()));
  }
  return value.dump();
}

TableValue json_value_of(const formats::Json& value, const fs::path& file, int64_t line,
                         const std::string& column, bool may_be_list) {
  if (!may_be_list || !value.is_array()) return {{json_text_of(value, file, line, column)}};
  TableValue list{.texts = {}, .is_list = true};
  for (const formats::Json& one : value) {
    list.texts.push_back(json_text_of(one, file, line, "an entry of " + column));
  }
  return list;
}

// The columns are the keys that any object has, in the order of their first use.
std::vector<std::string> keys_of_objects(std::string_view text, const fs::path& file) {
  std::vector<std::string> keys;
  std::unordered_set<std::string> known;
  for_each_json_object(text, file, [&](const formats::Json& object, int64_t /*line*/) {
    for (const formats::JsonMember& member : object.items()) {
      if (known.insert(member.name).second) keys.push_back(member.name);
    }
  });
  return keys;
}

void read_json(std::string_view text, const fs::path& file, TableReceiver& table) {
  const std::vector<std::string> keys = keys_of_objects(text, file);
  if (keys.empty()) return;
  set_header(keys, file, table);
  for_each_json_object(text, file, [&](const formats::Json& object, int64_t line) {
    table.add(line, [&](const std::string& column) {
      const formats::Json* found = object.find(column);
      if (found == nullptr) return TableValue();
      return trimmed(json_value_of(*found, file, line, column, table.is_list(column)), file, line);
    });
  });
}

}  // namespace

void read_table_rows(const fs::path& file, bool quotes, TableReceiver& table) {
  const std::string text = read_label_file(file);
  const std::string_view begin = text::trim_ascii(text);
  if (begin.starts_with('[') || begin.starts_with('{')) {
    read_json(text, file, table);
  } else {
    read_delimited(text, file, quotes, table);
  }
}

std::vector<std::string> split_list(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  while (true) {
    const size_t end = text.find(separator);
    if (const std::string_view part = text::trim_ascii(text.substr(0, end)); !part.empty()) {
      parts.emplace_back(part);
    }
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + separator.size());
  }
}

std::optional<std::string> find_column(std::span<const std::string> header,
                                       std::span<const std::string_view> names) {
  for (const std::string_view name : names) {
    for (const std::string& column : header) {
      if (text::lower_ascii(column) == name) return column;
    }
  }
  return std::nullopt;
}

}  // namespace cloze::tasks
