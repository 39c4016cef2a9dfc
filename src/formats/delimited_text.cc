#include "formats/delimited_text.h"

#include <utility>

#include "base/error.h"

namespace cloze::formats {

DelimitedRows::DelimitedRows(std::string_view text, DelimitedForm form, std::filesystem::path file)
    : rest_(text), form_(form), file_(std::move(file)) {}

bool DelimitedRows::next() {
  fields_.clear();
  if (!skip_empty_lines()) return false;
  line_ = next_line_;
  while (true) {
    read_field();
    if (rest_.empty() || at_line_end()) break;
    rest_.remove_prefix(1);  // the delimiter
  }
  skip_line_end();
  return true;
}

bool DelimitedRows::skip_empty_lines() {
  while (!rest_.empty() && at_line_end()) skip_line_end();
  return !rest_.empty();
}

void DelimitedRows::read_field() {
  std::string& field = fields_.emplace_back();
  if (form_.has_quotes && rest_.starts_with('"')) {
    read_quoted(field);
  } else {
    read_plain(field);
  }
  if (field.find('\0') != std::string::npos) {
    refuse(next_line_, "a byte is zero; is this a text in UTF-16, or no text? Convert it to UTF-8");
  }
}

void DelimitedRows::read_quoted(std::string& field) {
  const int64_t first_line = next_line_;
  rest_.remove_prefix(1);
  while (true) {
    const size_t quote = rest_.find('"');
    if (quote == std::string_view::npos) {
      refuse(first_line,
             "the quote that begins a field here is not closed; write a quote in a text twice "
             "(\"\") or, "
             "if quotes mean nothing in this file, set `quotes` to false");
    }
    for (const char c : rest_.substr(0, quote)) next_line_ += c == '\n' ? 1 : 0;
    field += rest_.substr(0, quote);
    rest_.remove_prefix(quote + 1);
    if (!rest_.starts_with('"')) break;
    field += '"';
    rest_.remove_prefix(1);
  }
  if (!rest_.empty() && !at_line_end() && rest_.front() != form_.delimiter) {
    refuse(next_line_,
           "text follows the quote that ends a field; write a quote in a text twice (\"\") or, if "
           "quotes "
           "mean nothing in this file, set `quotes` to false");
  }
}

void DelimitedRows::read_plain(std::string& field) {
  const char ends[] = {form_.delimiter, '\n', '\r'};
  const size_t end = std::min(rest_.find_first_of(std::string_view(ends, 3)), rest_.size());
  field = rest_.substr(0, end);
  rest_.remove_prefix(end);
}

bool DelimitedRows::at_line_end() const { return rest_.front() == '\n' || rest_.front() == '\r'; }

void DelimitedRows::skip_line_end() {
  if (rest_.empty()) return;
  rest_.remove_prefix(rest_.starts_with("\r\n") ? 2 : 1);
  ++next_line_;
}

void DelimitedRows::refuse(int64_t line, const std::string& what) const {
  throw_data_error("{}:{}: {}", file_.string(), line, what);
}

}  // namespace cloze::formats
