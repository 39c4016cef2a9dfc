#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/whole_number.h"
#include "tasks/labelled/label_file.h"
#include "tasks/tagging/tagged_forms.h"
#include "text/ascii.h"
#include "text/utf8.h"

namespace cloze::tasks {
namespace {

namespace fs = std::filesystem;
using Columns = std::vector<std::string_view>;

constexpr size_t kUniversalColumns = 10;

Columns between_tabs(std::string_view line) {
  Columns columns;
  while (true) {
    const size_t tab = line.find('\t');
    columns.push_back(text::trim_ascii(line.substr(0, tab)));
    if (tab == std::string_view::npos) return columns;
    line.remove_prefix(tab + 1);
  }
}

Columns between_blanks(std::string_view line) {
  Columns columns;
  for (line = text::trim_ascii(line); !line.empty(); line = text::trim_ascii(line)) {
    const auto end = std::ranges::find_if(line, text::is_ascii_space);
    const auto length = static_cast<size_t>(end - line.begin());
    columns.push_back(line.substr(0, length));
    line.remove_prefix(length);
  }
  return columns;
}

// Blanks at the end of a line are no columns.
std::string_view without_end(std::string_view line) {
  while (!line.empty() && text::is_ascii_space(line.back())) line.remove_suffix(1);
  return line;
}

void check_text(std::string_view line, const fs::path& file, int64_t number) {
  if (line.find('\0') != std::string_view::npos) {
    refuse_line(file, number,
                "a byte is zero; is this a text in UTF-16, or no text? Convert it to UTF-8");
  }
  if (line.find('\r') != std::string_view::npos) {
    refuse_line(file, number, "a carriage return is inside; end lines with a line feed");
  }
  if (!text::is_valid_utf8(line)) refuse_line(file, number, "is not UTF-8; convert the file");
}

// Visits the lines, checked, without what is blank at their end.
void for_each_line(std::string_view bytes, const fs::path& file,
                   const std::function<void(std::string_view line, int64_t number)>& visit) {
  for (int64_t number = 1; !bytes.empty(); ++number) {
    const std::string_view line = without_end(text::take_line(bytes));
    check_text(line, file, number);
    visit(line, number);
  }
}

// Takes the words of a file, and makes sentences of them.
class SentenceBuilder {
 public:
  explicit SentenceBuilder(TaggedText& text) : text_(text) {}

  void add(int64_t line, std::string_view word, std::string_view tag) {
    if (sentence_.words.empty()) sentence_.line = line;
    sentence_.words.emplace_back(word);
    sentence_.tags.emplace_back(tag);
  }
  void end_sentence() {
    if (sentence_.words.empty()) return;
    text_.sentences.push_back(std::exchange(sentence_, {}));
  }
  bool is_in_sentence() const { return !sentence_.words.empty(); }

 private:
  TaggedText& text_;
  TaggedWords sentence_;
};

// The place, from 0, of a column that was asked for by its number; `otherwise` if none was.
size_t column_at(const std::string& asked, const char* option, size_t otherwise, size_t count,
                 const fs::path& file) {
  if (asked.empty()) return otherwise;
  const auto number = number_in<size_t>(asked);
  if (!number || *number < 1 || *number > count) {
    throw_user_error("{} is {}, but {} has columns 1 to {}", option, asked, file.string(), count);
  }
  return *number - 1;
}

// Where words and tags are in lines of `count` columns.
struct Places {
  size_t word = 0;
  std::optional<size_t> tag;
};

Places places_in(TaggedText& text, size_t count, Places usual) {
  TaggedColumns& columns = text.columns;
  Places places{.word = column_at(columns.word, "word_column", usual.word, count, text.file)};
  if (usual.tag || !columns.tag.empty()) {
    places.tag = column_at(columns.tag, "tag_column", usual.tag.value_or(0), count, text.file);
  }
  columns.word = std::to_string(places.word + 1);
  columns.tag = places.tag ? std::to_string(*places.tag + 1) : "";
  if (places.tag == places.word) {
    throw_user_error(
        "{}: words and tags would both be column {}; name two with word_column and "
        "tag_column",
        text.file.string(), columns.word);
  }
  return places;
}

// Columns as the first line that has a word has them.
class ColumnReader {
 public:
  explicit ColumnReader(TaggedText& text) : text_(text), sentences_(text) {}

  void read(std::string_view line, int64_t number) {
    if (line.empty()) return sentences_.end_sentence();
    if (!sentences_.is_in_sentence() && line.starts_with("# id ")) {
      ++text_.left_out["comments"];
      return;
    }
    const bool has_tabs = first_line_ == 0 ? line.find('\t') != line.npos : has_tabs_;
    const Columns columns = has_tabs ? between_tabs(line) : between_blanks(line);
    if (columns.front() == "-DOCSTART-") {
      sentences_.end_sentence();
      ++text_.left_out["-DOCSTART- lines"];
      return;
    }
    if (first_line_ == 0) settle(columns, has_tabs, number);
    check(columns, number);
    sentences_.add(number, columns[places_.word],
                   places_.tag ? columns[*places_.tag] : std::string_view());
  }
  void end() { sentences_.end_sentence(); }

 private:
  void settle(const Columns& columns, bool has_tabs, int64_t number) {
    first_line_ = number;
    has_tabs_ = has_tabs;
    num_columns_ = columns.size();
    Places usual{.word = 0};
    if (num_columns_ > 1) usual.tag = num_columns_ - 1;
    places_ = places_in(text_, num_columns_, usual);
  }

  void check(const Columns& columns, int64_t number) const {
    if (columns.size() != num_columns_) {
      refuse_line(
          text_.file, number,
          fmt::format("{} columns instead of the {} of line {}; separate columns by {}, and "
                      "sentences by an empty line",
                      columns.size(), num_columns_, first_line_, has_tabs_ ? "one tab" : "blanks"));
    }
    if (columns[places_.word].empty()) {
      refuse_line(text_.file, number, "has a tag, but no word; delete the line, or add the word");
    }
    if (places_.tag && columns[*places_.tag].empty()) {
      refuse_line(text_.file, number,
                  fmt::format("`{}` has no tag; add it, such as O", columns[places_.word]));
    }
  }

  TaggedText& text_;
  SentenceBuilder sentences_;
  int64_t first_line_ = 0;
  bool has_tabs_ = false;
  size_t num_columns_ = 0;
  Places places_;
};

bool is_universal_id(std::string_view id) {
  const size_t sign = id.find_first_of("-.");
  const auto is_number = [](std::string_view part) { return number_in<int64_t>(part).has_value(); };
  if (sign == std::string_view::npos) return is_number(id);
  return is_number(id.substr(0, sign)) && is_number(id.substr(sign + 1));
}

// The lines of CoNLL-U.
class UniversalReader {
 public:
  explicit UniversalReader(TaggedText& text)
      : text_(text),
        sentences_(text),
        places_(places_in(text, kUniversalColumns, {.word = 1, .tag = 3})) {}

  void read(std::string_view line, int64_t number) {
    if (line.empty()) return end();
    if (line.starts_with('#')) return;
    const Columns columns = between_tabs(line);
    if (columns.size() != kUniversalColumns) {
      refuse_line(text_.file, number,
                  fmt::format("{} columns instead of CoNLL-U's 10; separate them by one tab, and "
                              "sentences by an empty line",
                              columns.size()));
    }
    add(columns, number);
  }
  void end() {
    sentences_.end_sentence();
    words_ = 0;
  }

 private:
  void add(const Columns& columns, int64_t number) {
    const std::string_view id = columns.front();
    if (!is_universal_id(id)) {
      refuse_line(text_.file, number, fmt::format("`{}` is not the number of a word", id));
    }
    if (id.find('-') != id.npos) {
      ++text_.left_out["ranges of words"];
    } else if (id.find('.') != id.npos) {
      ++text_.left_out["empty nodes"];
    } else {
      if (number_in<int64_t>(id) != ++words_) {
        refuse_line(text_.file, number,
                    fmt::format("word {} stands where {} should; is a line missing, or an empty "
                                "line between sentences?",
                                id, words_));
      }
      if (columns[places_.word].empty()) refuse_line(text_.file, number, "has no word");
      const std::string_view tag = columns[*places_.tag];
      sentences_.add(number, columns[places_.word], tag == "_" ? std::string_view() : tag);
    }
  }

  TaggedText& text_;
  SentenceBuilder sentences_;
  Places places_;
  int64_t words_ = 0;
};

}  // namespace

bool is_conllu(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = without_end(text::take_line(text));
    for (const char* comment :
         {"# sent_id", "# text =", "# newdoc", "# newpar", "# global.columns"}) {
      if (line.starts_with(comment)) return true;
    }
    if (line.empty() || line.starts_with('#')) continue;
    const Columns columns = between_tabs(line);
    return columns.size() == kUniversalColumns && is_universal_id(columns.front());
  }
  return false;
}

void read_conllu(std::string_view bytes, TaggedText& text) {
  text.form = "CoNLL-U";
  UniversalReader reader(text);
  for_each_line(bytes, text.file,
                [&](std::string_view line, int64_t number) { reader.read(line, number); });
  reader.end();
}

void read_tagged_columns(std::string_view bytes, TaggedText& text) {
  text.form = "columns";
  ColumnReader reader(text);
  for_each_line(bytes, text.file,
                [&](std::string_view line, int64_t number) { reader.read(line, number); });
  reader.end();
}

}  // namespace cloze::tasks
