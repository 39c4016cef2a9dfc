#include "tasks/glue/glue_data.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/error.h"
#include "base/whole_number.h"
#include "platform/files/atomic_file.h"
#include "platform/files/file.h"
#include "text/ascii.h"
#include "text/utf8.h"

namespace cloze::tasks {
namespace {

constexpr double kLargestScore = 5;

std::vector<std::string_view> columns_of(std::string_view line) {
  std::vector<std::string_view> columns;
  if (line.ends_with('\r')) line.remove_suffix(1);
  while (true) {
    const size_t tab = line.find('\t');
    columns.push_back(line.substr(0, tab));
    if (tab == std::string_view::npos) return columns;
    line.remove_prefix(tab + 1);
  }
}

std::optional<double> number_of(std::string_view text) {
  const std::optional<double> value = number_in<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

// The label's number; nothing when the task has no such label.
std::optional<double> label_of(std::string_view text, const GlueTask& task) {
  text = text::trim_ascii(text);
  if (task.is_regression()) return number_of(text);
  const auto found = std::find(task.labels.begin(), task.labels.end(), text);
  if (found == task.labels.end()) return std::nullopt;
  return static_cast<double>(found - task.labels.begin());
}

std::string labels_text(const GlueTask& task) {
  if (task.is_regression()) return fmt::format("a number from 0 to {}", kLargestScore);
  return fmt::format("{}", fmt::join(task.labels, ", "));
}

// A TSV file, line by line.
class TsvFile {
 public:
  explicit TsvFile(const std::filesystem::path& path) : path_(path), file_(path) {
    rest_ = text::without_byte_order_mark(file_.text());
  }

  bool next() {
    if (rest_.empty()) return false;
    columns_ = columns_of(text::take_line(rest_));
    ++line_;
    return true;
  }
  const std::vector<std::string_view>& columns() const { return columns_; }
  int64_t line() const { return line_; }

  void require_utf8() const {
    for (const std::string_view column : columns_) {
      if (!text::is_valid_utf8(column)) refuse("is not UTF-8; convert the file");
    }
  }

  [[noreturn]] void refuse(const std::string& what) const {
    throw_data_error("{}:{}: {}", path_.string(), line_, what);
  }

 private:
  const std::filesystem::path& path_;
  platform::MappedFile file_;
  std::string_view rest_;
  std::vector<std::string_view> columns_;
  int64_t line_ = 0;
};

// The places of a task's columns.
struct Columns {
  size_t first = 0;
  std::optional<size_t> second;
  std::optional<size_t> label;
  size_t count = 0;
};

constexpr Columns kHeaderlessCola{.first = 3, .label = 1, .count = 4};

std::optional<size_t> find_column(const TsvFile& file, std::string_view name) {
  if (name.empty()) return std::nullopt;
  const auto& header = file.columns();
  const auto found = std::find(header.begin(), header.end(), name);
  if (found == header.end()) return std::nullopt;
  return static_cast<size_t>(found - header.begin());
}

Columns columns_in_header(const TsvFile& file, const GlueTask& task, bool needs_labels) {
  const auto needed = [&](std::string_view name) {
    if (const auto column = find_column(file, name)) return *column;
    file.refuse(fmt::format("the header has no column \"{}\", which {} needs", name, task.name));
  };
  Columns columns{.first = needed(task.first_column),
                  .label = needs_labels ? find_column(file, task.label_column) : std::nullopt,
                  .count = file.columns().size()};
  if (needs_labels) {
    if (task.label_column.empty()) file.refuse("the task has no labels to learn or score");
    needed(task.label_column);
  }
  if (!task.second_column.empty()) columns.second = needed(task.second_column);
  return columns;
}

GlueExample example_of(const TsvFile& file, const Columns& columns, const GlueTask& task) {
  const auto& values = file.columns();
  if (values.size() != columns.count) {
    file.refuse(fmt::format("{} columns instead of {}", values.size(), columns.count));
  }
  file.require_utf8();
  GlueExample example{.first = std::string(values[columns.first])};
  if (columns.second) example.second = values[*columns.second];
  if (columns.label) {
    example.label = label_of(values[*columns.label], task);
    const bool is_score =
        !task.is_regression() || (example.label >= 0.0 && example.label <= kLargestScore);
    if (!example.label || !is_score) {
      file.refuse(fmt::format("label '{}' of {}; it must be {}", values[*columns.label], task.name,
                              labels_text(task)));
    }
  }
  return example;
}

std::string prediction_text(const GlueTask& task, double prediction, size_t index) {
  if (task.is_regression()) {
    if (!std::isfinite(prediction)) {
      throw_user_error("{}: the score predicted for example {} is not a finite number", task.name,
                       index);
    }
    return fmt::format("{:.3f}", std::clamp(prediction, 0.0, kLargestScore));
  }
  const auto number = static_cast<int64_t>(prediction);
  CLOZE_CHECK(number >= 0 && number < std::ssize(task.labels), "class {} of {}", number, task.name);
  return std::string(task.labels[static_cast<size_t>(number)]);
}

}  // namespace

std::vector<GlueExample> read_glue(const std::filesystem::path& path, const GlueTask& task,
                                   bool needs_labels, std::vector<int64_t>* short_lines) {
  TsvFile file(path);
  std::vector<GlueExample> examples;
  if (!file.next()) file.refuse("the file is empty");
  const bool has_header = task.name != "CoLA" || find_column(file, task.first_column).has_value();
  const Columns columns =
      has_header ? columns_in_header(file, task, needs_labels) : kHeaderlessCola;
  if (!has_header) examples.push_back(example_of(file, columns, task));
  while (file.next()) {
    if (short_lines != nullptr && file.columns().size() < columns.count) {
      short_lines->push_back(file.line());
      continue;
    }
    examples.push_back(example_of(file, columns, task));
  }
  if (examples.empty()) file.refuse("the file holds no example");
  return examples;
}

std::vector<double> read_glue_predictions(const std::filesystem::path& path, const GlueTask& task) {
  TsvFile file(path);
  if (!file.next() || file.columns() != std::vector<std::string_view>{"index", "prediction"}) {
    file.refuse("the first line must be index<TAB>prediction");
  }
  std::vector<double> predictions;
  while (file.next()) {
    const auto& columns = file.columns();
    if (columns.size() != 2 || columns[0] != std::to_string(predictions.size())) {
      file.refuse(fmt::format("must be {}<TAB>prediction", predictions.size()));
    }
    std::optional<double> value = label_of(columns[1], task);
    if (!value) value = number_of(columns[1]);
    const auto classes = static_cast<double>(task.labels.size());
    const bool is_class = value && *value >= 0 && *value < classes && *value == std::floor(*value);
    if (!value || (!task.is_regression() && !is_class)) {
      file.refuse(fmt::format("prediction '{}' of {}; it must be {}, or the number of one",
                              columns[1], task.name, labels_text(task)));
    }
    predictions.push_back(*value);
  }
  return predictions;
}

std::string glue_submission_name(const GlueTask& task) {
  return std::string(task.name) + (task.name == "MNLI" ? "-m" : "") + ".tsv";
}

void write_glue_submission(const std::filesystem::path& path, const GlueTask& task,
                           std::span<const double> predictions) {
  std::string text = "index\tprediction\n";
  for (size_t i = 0; i < predictions.size(); ++i) {
    text += fmt::format("{}\t{}\n", i, prediction_text(task, predictions[i], i));
  }
  platform::write_file_atomically(path, text);
}

}  // namespace cloze::tasks
