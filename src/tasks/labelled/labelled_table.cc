#include "tasks/labelled/labelled_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "base/error.h"
#include "formats/delimited_text.h"
#include "formats/json.h"
#include "tasks/labelled/label_file.h"
#include "text/ascii.h"
#include "text/utf8.h"

namespace cloze::tasks {
namespace {

namespace fs = std::filesystem;

// Names of columns, the likeliest first. A name of kPairNames goes with that of kTextNames at its
// place, where there is one.
constexpr std::string_view kTextNames[] = {"text",      "sentence", "sentence1", "premise",
                                           "question1", "question", "review",    "content",
                                           "query",     "utterance"};
constexpr std::string_view kPairNames[] = {"text_pair", "sentence2", "hypothesis", "question2",
                                           "text2"};
constexpr std::string_view kLabelNames[] = {"label",     "labels", "class",  "category", "intent",
                                            "sentiment", "score",  "target", "rating"};

std::optional<std::string> find_name(std::span<const std::string> header,
                                     std::span<const std::string_view> names) {
  for (const std::string_view name : names) {
    for (const std::string& column : header) {
      if (text::lower_ascii(column) == name) return column;
    }
  }
  return std::nullopt;
}

// The columns of a table that has these.
class ColumnChoice {
 public:
  ColumnChoice(const fs::path& file, std::span<const std::string> header)
      : file_(file), header_(header) {}

  TableOptions choose(TableOptions options) const {
    require(options.text_column, "text_column");
    require(options.pair_column, "pair_column");
    require(options.label_column, "label_column");
    take_known(options.label_column, kLabelNames);
    take_known(options.text_column, kTextNames);
    take_known(options.pair_column, kPairNames);
    take_other(options.label_column, options.text_column, "label");
    take_other(options.text_column, options.label_column, "text");
    if (options.text_column == options.label_column) {
      throw_user_error("{}: texts and labels would both be {}; name two columns", file_.string(),
                       options.text_column);
    }
    if (options.pair_column == options.text_column || options.pair_column == options.label_column) {
      options.pair_column.clear();
    }
    return options;
  }

 private:
  void require(const std::string& column, std::string_view option) const {
    if (column.empty() || std::ranges::find(header_, column) != header_.end()) return;
    throw_user_error("{} has no column {}, which {} names; it has {}", file_.string(), column,
                     option, fmt::join(header_, ", "));
  }

  void take_known(std::string& column, std::span<const std::string_view> names) const {
    if (column.empty()) column = find_name(header_, names).value_or("");
  }

  // Takes, of two columns, the one that is not the other.
  void take_other(std::string& column, const std::string& other, std::string_view what) const {
    if (!column.empty()) return;
    if (header_.size() != 2 || other.empty()) {
      throw_user_error("{} has the columns {}; name that of the {}s with {}_column", file_.string(),
                       fmt::join(header_, ", "), what, what);
    }
    column = header_[header_[0] == other ? 1 : 0];
  }

  const fs::path& file_;
  std::span<const std::string> header_;
};

// Takes a table's rows, whatever they come in.
class TableBuilder {
 public:
  TableBuilder(const fs::path& file, const TableOptions& options) {
    table_.file = file;
    table_.columns = options;
  }

  void set_header(std::span<const std::string> header) {
    for (size_t i = 0; i < header.size(); ++i) {
      if (std::ranges::count(header, header[i]) == 1) continue;
      refuse_line(table_.file, 1, fmt::format("two columns are called {}; rename one", header[i]));
    }
    table_.columns = ColumnChoice(table_.file, header).choose(table_.columns);
  }

  // Gives the value of a column of this row.
  void add(int64_t line, const std::function<std::string(const std::string& column)>& value) {
    const auto field = [&](const std::string& column) {
      return column.empty() ? "" : std::string(text::trim_ascii(value(column)));
    };
    LabelledText row{.text = field(table_.columns.text_column),
                     .pair = field(table_.columns.pair_column),
                     .label = field(table_.columns.label_column),
                     .line = line};
    for (const std::string* each : {&row.text, &row.pair, &row.label}) {
      if (!text::is_valid_utf8(*each))
        refuse_line(table_.file, line, "is not UTF-8; convert the file");
    }
    if (row.text.empty() || (table_.is_pair() && row.pair.empty())) {
      ++table_.without_text;
    } else if (row.label.empty()) {
      ++table_.without_label;
    } else {
      table_.rows.push_back(std::move(row));
    }
  }

  LabelledTable take() {
    if (table_.rows.empty()) {
      throw_user_error("{} holds no row with a text and a label", table_.file.string());
    }
    return std::move(table_);
  }

 private:
  LabelledTable table_;
};

char delimiter_of(std::string_view header) {
  for (const char delimiter : {'\t', ',', ';'}) {
    if (header.find(delimiter) != std::string_view::npos) return delimiter;
  }
  return ',';
}

void read_delimited(std::string_view text, const fs::path& file, bool quotes, TableBuilder& table) {
  const char delimiter = delimiter_of(text.substr(0, text.find_first_of("\r\n")));
  formats::DelimitedRows rows(text, {.delimiter = delimiter, .has_quotes = quotes}, file);
  if (!rows.next()) throw_user_error("{} is empty", file.string());
  const std::vector<std::string> header = rows.fields();
  table.set_header(header);
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
      return fields[static_cast<size_t>(std::ranges::find(header, column) - header.begin())];
    });
  }
}

std::string json_value_text(const formats::Json& value, const fs::path& file, int64_t line,
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

void read_json(std::string_view text, const fs::path& file, TableBuilder& table) {
  bool is_first = true;
  for_each_json_object(text, file, [&](const formats::Json& object, int64_t line) {
    if (std::exchange(is_first, false)) {
      std::vector<std::string> header;
      for (const formats::JsonMember& member : object.items()) header.push_back(member.name);
      table.set_header(header);
    }
    table.add(line, [&](const std::string& column) {
      const formats::Json* found = object.find(column);
      return found == nullptr ? "" : json_value_text(*found, file, line, column);
    });
  });
}

}  // namespace

LabelledTable read_labelled_table(const fs::path& file, const TableOptions& options) {
  const std::string text = read_label_file(file);
  const std::string_view begin = text::trim_ascii(text);
  TableBuilder table(file, options);
  if (begin.starts_with('[') || begin.starts_with('{')) {
    read_json(text, file, table);
  } else {
    read_delimited(text, file, options.quotes, table);
  }
  return table.take();
}

std::string describe(const LabelledTable& table) {
  std::string text = fmt::format("{}: {} rows, texts in {}", table.file.string(), table.rows.size(),
                                 table.columns.text_column);
  if (table.is_pair()) text += fmt::format(" and {}", table.columns.pair_column);
  text += fmt::format(", labels in {}", table.columns.label_column);
  if (table.without_text > 0 || table.without_label > 0) {
    text += fmt::format("; left out: {} without text, {} without label", table.without_text,
                        table.without_label);
  }
  return text;
}

}  // namespace cloze::tasks
