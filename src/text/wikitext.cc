#include "text/wikitext.h"

#include <algorithm>
#include <string>

#include "text/ascii.h"
#include "text/html_entities.h"
#include "text/wikitext_markup.h"

namespace cloze::text {
namespace {

// 0 for a line that is not a heading.
size_t heading_level(std::string_view line) {
  const size_t level = std::min(line.find_first_not_of('='), line.size());
  return level < line.size() && line.ends_with('=') ? level : 0;
}

// "== History ==" without the marks.
std::string_view title_of(std::string_view heading) {
  const size_t begin = heading.find_first_not_of('=');
  if (begin == std::string_view::npos) return {};
  return heading.substr(begin, heading.find_last_not_of('=') + 1 - begin);
}

bool has_letter(std::string_view line) {
  return std::any_of(line.begin(), line.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           static_cast<unsigned char>(c) >= 0x80;
  });
}

// One space between words, none where something was cut out: "Ada (, ) , who" -> "Ada, who".
class Tidier {
 public:
  std::string tidy(std::string_view line) {
    for (size_t i = 0; i < line.size(); ++i) {
      const bool is_no_break_space = line.substr(i).starts_with("\xC2\xA0");
      if (line[i] == ' ' || line[i] == '\t' || is_no_break_space) {
        has_gap_ = true;
        i += is_no_break_space ? 1 : 0;
      } else {
        append(line[i], i + 1 == line.size() || line[i + 1] == ' ');
      }
    }
    return std::move(tidied_);
  }

 private:
  void append(char c, bool is_word_end) {
    const bool is_after_bracket = tidied_.ends_with('(');
    if (is_after_bracket && (c == ',' || c == ';' || c == ':')) return;
    if (c == ')') {
      while (!tidied_.empty() &&
             std::string_view(" ,;:").find(tidied_.back()) != std::string_view::npos) {
        tidied_.pop_back();
      }
      has_gap_ = false;
      if (tidied_.ends_with('(')) {
        tidied_.pop_back();
        has_gap_ = tidied_.ends_with(' ');
        if (has_gap_) tidied_.pop_back();
        return;
      }
    }
    const bool clings = c == ',' || c == ';' || (c == '.' && is_word_end);
    if (has_gap_ && !tidied_.empty() && !clings && !is_after_bracket) tidied_ += ' ';
    has_gap_ = false;
    tidied_ += c;
  }

  std::string tidied_;
  bool has_gap_ = false;
};

// "__NOTOC__" and its like.
bool is_switch(std::string_view line) { return line.starts_with("__") && line.ends_with("__"); }

class LineFilter {
 public:
  LineFilter(const WikitextNames& names, WikitextCounts& counts) : names_(names), counts_(counts) {}

  bool keeps(std::string_view line) {
    if (line.empty() || is_switch(line)) return false;
    if (const size_t level = heading_level(line); level > 0) {
      enter_section(line, level);
      return false;
    }
    if (skipped_level_ > 0) return false;
    if (std::string_view("*#:;").find(line.front()) != std::string_view::npos) {
      ++counts_.list_items;
      return false;
    }
    // The rest of a table or template that was never closed.
    return line.front() != '|' && line.front() != '!' && has_letter(line);
  }

 private:
  void enter_section(std::string_view heading, size_t level) {
    ++counts_.headings;
    if (skipped_level_ > 0 && level > skipped_level_) return;
    skipped_level_ = names_.drops_section(title_of(heading)) ? level : 0;
    if (skipped_level_ > 0) ++counts_.sections;
  }

  const WikitextNames& names_;
  WikitextCounts& counts_;
  size_t skipped_level_ = 0;  // of the heading whose section is left out; 0: none
};

}  // namespace

WikitextCounts& WikitextCounts::operator+=(const WikitextCounts& other) {
  comments += other.comments;
  templates += other.templates;
  tables += other.tables;
  references += other.references;
  files += other.files;
  headings += other.headings;
  list_items += other.list_items;
  sections += other.sections;
  return *this;
}

std::string plain_text_of_wikitext(std::string_view wikitext, const WikitextNames& names,
                                   WikitextCounts& counts) {
  const std::string without_markup = remove_wikitext_markup(wikitext, names, counts);
  LineFilter filter(names, counts);
  std::string text;
  std::string_view rest = without_markup;
  while (!rest.empty()) {
    const std::string_view line = trim_ascii(take_line(rest));
    if (!filter.keeps(line)) continue;
    text += Tidier().tidy(decode_html_entities(line));
    text += '\n';
  }
  return text;
}

}  // namespace cloze::text
