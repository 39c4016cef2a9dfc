// The rows of a user's table, in any form: CSV, TSV, JSON Lines or a JSON array of objects, plain or
// compressed (gzip, Zstandard), from a file or standard input ("-").
//
// The form is found out by the content: text that begins with "{" or "[" is JSON; otherwise the first
// row is a header, and its separator is the first of tab, comma and semicolon that it holds. Values of
// JSON that are numbers, true or false become their text. Blanks at both ends of a value are dropped.
//
// Errors: UserError for an empty file; DataError that names file and line for two columns of one
// name, for a row with another number of fields than the header, for bytes that are not UTF-8, for
// JSON that is no object of such values, and what formats/delimited_text.h refuses.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cloze::tasks {

// The value of a row in a column: a text, or a list of JSON.
struct TableValue {
  std::vector<std::string> texts;
  bool is_list = false;

  std::string text() const { return texts.empty() ? "" : texts.front(); }
};

// Takes the rows of a table.
class TableReceiver {
 public:
  // Gives the value of a column of a row; nothing where an object lacks it.
  using Values = std::function<TableValue(const std::string& column)>;

  virtual ~TableReceiver() = default;
  // The names of the columns: called once, before the rows.
  virtual void set_header(std::span<const std::string> header) = 0;
  // Says whether the values of a column may be lists of JSON.
  virtual bool is_list(const std::string& column) const = 0;
  // line: where the row begins, from 1; of a JSON array the number of the object.
  virtual void add(int64_t line, const Values& value) = 0;
};

// quotes: whether double quotes enclose fields.
void read_table_rows(const std::filesystem::path& file, bool quotes, TableReceiver& table);

// The pieces of a list between separators, without the blanks around them; empty ones are left out.
std::vector<std::string> split_list(std::string_view text, std::string_view separator);
// The first column that has one of these names, in any case.
std::optional<std::string> find_column(std::span<const std::string> header,
                                       std::span<const std::string_view> names);

}  // namespace cloze::tasks
