// Rows of comma- or tab-separated text (RFC 4180).
//
// A field that begins with a double quote ends at the next one; inside it delimiters and line breaks
// are text, and two double quotes are one. Rows end with "\n", "\r\n" or "\r"; empty lines are no
// rows. Rows may have different numbers of fields: what that means is up to the caller.
//
// Errors: DataError that names file and line: a quote that nothing closes, text between a closing
// quote and the delimiter, a byte that is zero.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace cloze::formats {

struct DelimitedForm {
  char delimiter = ',';
  bool has_quotes = true;  // otherwise a double quote is text like any other
};

class DelimitedRows {
 public:
  // The text outlives it. `file` is for messages.
  DelimitedRows(std::string_view text, DelimitedForm form, std::filesystem::path file);

  bool next();  // false at the end
  const std::vector<std::string>& fields() const { return fields_; }
  int64_t line() const { return line_; }  // where the row begins, from 1

 private:
  bool skip_empty_lines();
  void read_field();
  void read_quoted(std::string& field);
  void read_plain(std::string& field);
  bool at_line_end() const;
  void skip_line_end();
  [[noreturn]] void refuse(int64_t line, const std::string& what) const;

  std::string_view rest_;
  DelimitedForm form_;
  std::filesystem::path file_;
  std::vector<std::string> fields_;
  int64_t line_ = 0;
  int64_t next_line_ = 1;
};

}  // namespace cloze::formats
