#include "tasks/labelled/labelled_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <span>

#include "base/error.h"
#include "tasks/labelled/label_file.h"
#include "tasks/labelled/table_rows.h"
#include "text/ascii.h"

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
constexpr std::string_view kLabelNames[] = {
    "label",  "labels", "class",   "category", "intent",  "sentiment",  "score",  "target",
    "rating", "tags",   "intents", "topics",   "classes", "categories", "answer", "answerkey"};
constexpr std::string_view kChoiceLists[] = {"choices", "endings", "options"};
// Followed by a digit or a letter: "ending0", "choice_1", "option a".
constexpr std::string_view kChoiceNames[] = {"choice", "ending", "option"};

// The columns of a table that has these.
class ColumnChoice {
 public:
  ColumnChoice(const fs::path& file, std::span<const std::string> header)
      : file_(file), header_(header) {}

  TableOptions choose(TableOptions options) const {
    require(options.text_column, "text_column");
    require(options.pair_column, "pair_column");
    for (const std::string& column : label_columns(options)) require(column, "label_column");
    for (const std::string& column : choice_columns(options)) require(column, "choice_column");
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

  // Several where each label has a column of its own.
  std::vector<std::string> label_columns(const TableOptions& options) const {
    const std::string& name = options.label_column;
    if (!options.has_label_sets || has(name)) return {name};
    return split_list(name, ",");
  }

  // One that holds lists, or one for each choice; none where rows have no choices.
  std::vector<std::string> choice_columns(const TableOptions& options) const {
    if (!options.has_choices) return {};
    const std::string& name = options.choice_column;
    if (!name.empty()) return has(name) ? std::vector{name} : split_list(name, ",");
    if (const auto list = find_column(header_, kChoiceLists)) return {*list};
    for (const std::string_view first : kChoiceNames) {
      std::vector<std::string> columns;
      std::ranges::copy_if(header_, std::back_inserter(columns), [&](const std::string& column) {
        return is_numbered(text::lower_ascii(column), first);
      });
      if (columns.size() > 1) return columns;
    }
    throw_user_error("{} has the columns {}; name those of the choices with choice_column",
                     file_.string(), fmt::join(header_, ", "));
  }

 private:
  static bool is_numbered(std::string_view column, std::string_view first) {
    if (!column.starts_with(first)) return false;
    column.remove_prefix(first.size());
    if (column.starts_with('_') || column.starts_with(' ')) column.remove_prefix(1);
    return column.size() == 1 &&
           (text::is_ascii_digit(column[0]) || text::is_ascii_letter(column[0]));
  }

  bool has(const std::string& column) const {
    return std::ranges::find(header_, column) != header_.end();
  }

  void require(const std::string& column, std::string_view option) const {
    if (column.empty() || has(column)) return;
    throw_user_error("{} has no column {}, which {} names; it has {}", file_.string(), column,
                     option, fmt::join(header_, ", "));
  }

  void take_known(std::string& column, std::span<const std::string_view> names) const {
    if (column.empty()) column = find_column(header_, names).value_or("");
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
class TableBuilder : public TableReceiver {
 public:
  TableBuilder(const fs::path& file, const TableOptions& options) {
    table_.file = file;
    table_.columns = options;
  }

  void set_header(std::span<const std::string> header) override {
    const ColumnChoice choice(table_.file, header);
    table_.columns = choice.choose(table_.columns);
    label_columns_ = choice.label_columns(table_.columns);
    choice_columns_ = choice.choice_columns(table_.columns);
    table_.columns.choice_column = fmt::format("{}", fmt::join(choice_columns_, ","));
  }

  bool is_list(const std::string& column) const override {
    return (table_.columns.has_label_sets && column == table_.columns.label_column) ||
           (choice_columns_.size() == 1 && column == choice_columns_.front());
  }

  void add(int64_t line, const Values& value) override {
    const auto trimmed = [&](const std::string& column) {
      return column.empty() ? TableValue() : value(column);
    };
    LabelledText row{.text = trimmed(table_.columns.text_column).text(),
                     .pair = trimmed(table_.columns.pair_column).text(),
                     .choices = choices_of(line, trimmed),
                     .labels = labels_of(line, trimmed),
                     .line = line};
    if (row.text.empty() || (table_.is_pair() && row.pair.empty())) {
      ++table_.without_text;
    } else if (table_.columns.has_choices && row.choices.size() < 2) {
      ++table_.without_choices;
    } else {
      table_.without_label += row.labels.empty() ? 1 : 0;
      if (has_label_sets() || !row.labels.empty()) table_.rows.push_back(std::move(row));
    }
  }

  LabelledTable take() {
    if (table_.rows.empty()) {
      throw_user_error("{} holds no row with a text{}{}", table_.file.string(),
                       table_.columns.has_choices ? ", choices" : "",
                       has_label_sets() ? "" : " and a label");
    }
    return std::move(table_);
  }

 private:
  bool has_label_sets() const { return table_.columns.has_label_sets; }

  std::vector<std::string> labels_of(int64_t line, const Values& value) const {
    if (label_columns_.size() > 1) return columns_that_hold(line, value);
    const TableValue found = value(label_columns_.front());
    if (has_label_sets() && !found.is_list) {
      return split_list(found.text(), table_.columns.label_separator);
    }
    std::vector<std::string> labels = found.texts;
    std::erase(labels, "");
    return labels;
  }

  std::vector<std::string> columns_that_hold(int64_t line, const Values& value) const {
    std::vector<std::string> labels;
    for (const std::string& column : label_columns_) {
      const std::string text = text::lower_ascii(value(column).text());
      if (text == "1" || text == "true") {
        labels.push_back(column);
      } else if (text != "0" && text != "false") {
        refuse_line(
            table_.file, line,
            fmt::format("'{}' in {}; whether this label holds must be 1 or 0", text, column));
      }
    }
    return labels;
  }

  // Empty ones at the end are not there; in between they would change the numbers of the others.
  std::vector<std::string> choices_of(int64_t line, const Values& value) const {
    std::vector<std::string> choices;
    for (const std::string& column : choice_columns_) {
      std::ranges::move(value(column).texts, std::back_inserter(choices));
    }
    while (!choices.empty() && choices.back().empty()) choices.pop_back();
    const auto empty = std::ranges::find(choices, "");
    if (empty != choices.end()) {
      refuse_line(table_.file, line,
                  fmt::format("choice {} of {} is empty; write it, or leave the row out",
                              empty - choices.begin(), choices.size()));
    }
    return choices;
  }

  LabelledTable table_;
  std::vector<std::string> label_columns_, choice_columns_;
};

}  // namespace

LabelledTable read_labelled_table(const fs::path& file, const TableOptions& options) {
  TableBuilder table(file, options);
  read_table_rows(file, options.quotes, table);
  return table.take();
}

std::string describe(const LabelledTable& table) {
  std::string text = fmt::format("{}: {} rows, texts in {}", table.file.string(), table.rows.size(),
                                 table.columns.text_column);
  if (table.is_pair()) text += fmt::format(" and {}", table.columns.pair_column);
  if (table.columns.has_choices)
    text += fmt::format(", choices in {}", table.columns.choice_column);
  text += fmt::format(", labels in {}", table.columns.label_column);
  std::vector<std::string> left_out;
  const auto count = [&](int64_t rows, const char* what) {
    if (rows > 0) left_out.push_back(fmt::format("{} without {}", rows, what));
  };
  count(table.without_text, "text");
  count(table.without_choices, "two choices");
  if (!table.columns.has_label_sets) count(table.without_label, "label");
  if (!left_out.empty()) text += fmt::format("; left out: {}", fmt::join(left_out, ", "));
  if (table.columns.has_label_sets && table.without_label > 0) {
    text += fmt::format("; {} have no label", table.without_label);
  }
  return text;
}

}  // namespace cloze::tasks
