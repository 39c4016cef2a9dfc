#include "tasks/contrastive/text_tuples.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "base/whole_number.h"
#include "tasks/labelled/label_file.h"
#include "tasks/labelled/table_rows.h"
#include "text/ascii.h"

namespace cloze::tasks {
namespace {

namespace fs = std::filesystem;

// Names of the first two columns, the likeliest first.
constexpr std::array<std::string_view, 2> kPairs[] = {
    {"anchor", "positive"},     {"query", "positive"},     {"query", "answer"},
    {"query", "passage"},       {"query", "document"},     {"question", "answer"},
    {"sentence1", "sentence2"}, {"text1", "text2"},        {"text", "text_pair"},
    {"premise", "hypothesis"},  {"question1", "question2"}};
constexpr std::string_view kNegative = "negative";  // what a name of theirs begins with
constexpr std::string_view kScores[] = {"score", "similarity", "similarity_score", "label"};

// The columns of a table.
class TupleColumns {
 public:
  TupleColumns(const fs::path& file, std::span<const std::string> header)
      : file_(file), header_(header) {}

  std::string scores(const TupleOptions& options) const {
    if (!options.takes_scores) return "";
    if (options.score_column.empty() || guesses(options, {options.score_column}))
      return find_column(header_, kScores).value_or("");
    require(options.score_column, "score_column");
    return options.score_column;
  }

  std::vector<std::string> texts(const TupleOptions& options) const {
    if (options.text_columns.empty() || guesses(options, options.text_columns)) return guessed();
    for (const std::string& column : options.text_columns) require(column, "text_columns");
    if (options.text_columns.size() > 1) return options.text_columns;
    throw_user_error("text_columns is {}; name two or more, with commas between them",
                     options.text_columns.front());
  }

 private:
  bool has(const std::string& column) const {
    return std::ranges::find(header_, column) != header_.end();
  }

  // Says whether columns are guessed because this table lacks one of those named.
  bool guesses(const TupleOptions& options, const std::vector<std::string>& named) const {
    return options.may_lack_columns &&
           !std::ranges::all_of(named, [&](const std::string& one) { return has(one); });
  }

  std::vector<std::string> guessed() const {
    for (const auto& [first, second] : kPairs) {
      const auto one = find_column(header_, std::array{first});
      const auto other = find_column(header_, std::array{second});
      if (one && other) return with_negatives({*one, *other});
    }
    std::vector<std::string> columns(header_.begin(), header_.end());
    std::erase_if(columns, [](const std::string& column) {
      return std::ranges::count(kScores, text::lower_ascii(column)) > 0;
    });
    if (columns.size() == 2 || columns.size() == 3) return columns;
    throw_user_error(
        "{} has the columns {}; name those of the texts, the anchor's first, with "
        "text_columns",
        file_.string(), fmt::join(header_, ", "));
  }

  std::vector<std::string> with_negatives(std::vector<std::string> columns) const {
    std::ranges::copy_if(header_, std::back_inserter(columns), [](const std::string& column) {
      return text::lower_ascii(column).starts_with(kNegative);
    });
    return columns;
  }

  void require(const std::string& column, std::string_view option) const {
    if (has(column)) return;
    throw_user_error("{} has no column {}, which {} names; it has {}", file_.string(), column,
                     option, fmt::join(header_, ", "));
  }

  const fs::path& file_;
  std::span<const std::string> header_;
};

class TupleBuilder : public TableReceiver {
 public:
  TupleBuilder(const fs::path& file, const TupleOptions& options) : options_(options) {
    table_.file = file;
  }

  void set_header(std::span<const std::string> header) override {
    const TupleColumns columns(table_.file, header);
    table_.score_column = columns.scores(options_);
    table_.text_columns = columns.texts(options_);
    std::erase(table_.text_columns, table_.score_column);
  }

  bool is_list(const std::string& column) const override {
    const auto place = std::ranges::find(table_.text_columns, column);
    return place - table_.text_columns.begin() > 1;
  }

  void add(int64_t line, const Values& value) override {
    TextTuple row{.line = line};
    for (const std::string& column : table_.text_columns) {
      std::ranges::move(value(column).texts, std::back_inserter(row.texts));
    }
    const bool lacks_text =
        row.texts.size() < table_.text_columns.size() || std::ranges::count(row.texts, "") > 0;
    const std::string score = table_.has_scores() ? value(table_.score_column).text() : "0";
    if (lacks_text || score.empty()) {
      ++table_.incomplete;
      return;
    }
    const auto number = number_in<double>(score);
    if (!number || !std::isfinite(*number)) {
      refuse_line(table_.file, line,
                  fmt::format("'{}' in {}; a score must be a number", score, table_.score_column));
    }
    row.score = *number;
    table_.rows.push_back(std::move(row));
  }

  TupleTable take() {
    if (table_.rows.empty()) {
      throw_user_error("{} holds no row with all its texts{}", table_.file.string(),
                       table_.has_scores() ? " and a score" : "");
    }
    even_out();
    scale_scores();
    return std::move(table_);
  }

 private:
  void even_out() {
    size_t fewest = table_.rows.front().texts.size();
    for (const TextTuple& row : table_.rows) fewest = std::min(fewest, row.texts.size());
    for (TextTuple& row : table_.rows) {
      table_.shortened += row.texts.size() > fewest ? 1 : 0;
      row.texts.resize(fewest);
    }
  }

  void scale_scores() {
    constexpr double kMostOfSts = 5.0;
    const auto [least, most] = std::ranges::minmax(table_.rows, {}, &TextTuple::score);
    if (least.score < 0.0 || most.score <= 1.0 || most.score > kMostOfSts) return;
    table_.score_divisor = kMostOfSts;
    for (TextTuple& row : table_.rows) row.score /= kMostOfSts;
  }

  const TupleOptions& options_;
  TupleTable table_;
};

}  // namespace

TupleTable read_text_tuples(const fs::path& file, const TupleOptions& options) {
  TupleBuilder table(file, options);
  read_table_rows(file, options.quotes, table);
  return table.take();
}

std::string describe(const TupleTable& table) {
  std::string text = fmt::format("{}: {} rows, texts in {}", table.file.string(), table.rows.size(),
                                 fmt::join(table.text_columns, ", "));
  if (table.has_scores()) text += fmt::format(", scores in {}", table.score_column);
  if (table.score_divisor != 1.0) text += fmt::format(" (divided by {})", table.score_divisor);
  if (table.incomplete > 0) {
    text += fmt::format("; left out: {} that lack a text{}", table.incomplete,
                        table.has_scores() ? " or a score" : "");
  }
  if (table.shortened > 0) {
    text += fmt::format("; {} have more negatives than {}, the fewest of a row, and keep so many",
                        table.shortened, table.texts_per_row() - 2);
  }
  return text;
}

}  // namespace cloze::tasks
