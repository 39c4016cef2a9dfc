#include "text/wikitext_markup.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <vector>

#include "text/ascii.h"

namespace cloze::text {
namespace {

constexpr auto kNone = std::string_view::npos;
constexpr size_t kLongestTag = 1000;
// Deeper than marks nest on real pages. Deeper marks are removed, and open nothing.
constexpr size_t kDeepest = 100;

// Elements whose content is not prose.
constexpr std::string_view kDroppedElements[] = {
    "ce",         "chem",         "code",     "gallery",
    "graph",      "hiero",        "imagemap", "includeonly",
    "mapframe",   "math",         "pre",      "ref",
    "references", "score",        "source",   "syntaxhighlight",
    "table",      "templatedata", "timeline"};

constexpr std::string_view kUrlStarts[] = {"//", "ftp://", "http://", "https://", "mailto:"};

template <size_t N>
bool contains(const std::string_view (&words)[N], std::string_view word) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

// "a|b|c" in parts.
std::vector<std::string_view> split_arguments(std::string_view content) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t bar = std::min(content.find('|'), content.size());
    parts.push_back(trim_ascii(content.substr(0, bar)));
    if (bar == content.size()) return parts;
    content.remove_prefix(bar + 1);
  }
}

struct Replacement {
  std::string_view name;
  std::string_view text;
};
constexpr Replacement kReplacements[] = {{"'", "'"},     {"emdash", "—"},         {"endash", "–"},
                                         {"mdash", "—"}, {"nbsp", " "},           {"ndash", "–"},
                                         {"snd", " – "}, {"spaced ndash", " – "}, {"spnd", " – "}};

// "disp" and "1", but not what stands before a sign of equality in prose.
bool is_argument_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || is_ascii_digit(c) || c == '_' || c == '-';
  });
}

// A template's name, and its arguments by their numbers: "1=x" is the first, and arguments of other
// names say how it looks.
std::vector<std::string_view> numbered_arguments(std::string_view content) {
  std::vector<std::string_view> numbered;
  const auto place = [&](size_t number, std::string_view value) {
    numbered.resize(std::max(numbered.size(), number + 1));
    numbered[number] = value;
  };
  size_t next = 0;
  for (const std::string_view part : split_arguments(content)) {
    const size_t sign = next == 0 ? kNone : part.find('=');
    const std::string_view name = trim_ascii(part.substr(0, sign));
    if (sign == kNone || !is_argument_name(name)) {
      place(next++, part);
    } else if (name.size() == 1 && is_ascii_digit(name[0]) && name[0] != '0') {
      place(static_cast<size_t>(name[0] - '0'), trim_ascii(part.substr(sign + 1)));
    }
  }
  return numbered;
}

// {{convert|5|km|mi}} is "5 km", {{convert|3|-|5|m}} is "3–5 m", {{convert|3|x|4|x|5|m}} is
// "3 x 4 x 5 m", {{convert|5|ft|11|in|m}} is "5 ft 11 in".
std::string measure_of(const std::vector<std::string_view>& arguments) {
  constexpr std::string_view kDashes[] = {"-", "–", "to(-)"};
  constexpr std::string_view kWords[] = {"and", "by", "or", "to", "x", "×"};
  const auto argument = [&](size_t i) {
    return i < arguments.size() ? arguments[i] : std::string_view();
  };
  std::string text(argument(1));
  size_t i = 2;
  for (; contains(kDashes, argument(i)) || contains(kWords, argument(i)); i += 2) {
    text += contains(kDashes, argument(i)) ? "–" : fmt::format(" {} ", argument(i));
    text += argument(i + 1);
  }
  text += fmt::format(" {}", argument(i));
  const std::string_view second = argument(i + 1), unit = argument(i + 2);
  const bool is_compound =
      !second.empty() && is_ascii_digit(second[0]) && !unit.empty() && !is_ascii_digit(unit[0]);
  return is_compound ? text + fmt::format(" {} {}", second, unit) : text;
}

// The prose that a template stands for; nothing for almost all of them.
std::string expanded_template(std::string_view content) {
  const auto arguments = numbered_arguments(content);
  const std::string name = lower_ascii(arguments[0]);
  const auto argument = [&](size_t i) {
    return i < arguments.size() ? std::string(arguments[i]) : std::string();
  };
  for (const Replacement& replacement : kReplacements) {
    if (name == replacement.name) return std::string(replacement.text);
  }
  if (name == "convert" || name == "cvt") return measure_of(arguments);
  if (name == "lang") return argument(2);
  if (name == "nowrap" || name == "nobr" || name == "abbr" || name.starts_with("lang-")) {
    return argument(1);
  }
  return "";
}

// "zh-hans" and "zh", but not the "http" of an address.
bool is_variant_name(std::string_view name) {
  const bool is_code = std::ranges::all_of(
      name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-'; });
  return is_code && (name.size() == 2 || name.find('-') != kNone);
}

// "zh-hans:计算机; zh-hant:電腦" shows what the first of kPreferredVariants writes, or else the first
// variant; "乾隆" is to stay as it is. Flags before a bar say that it only sets a title (T), or a rule
// for the rest of the page (H, -).
std::string_view shown_variant(std::string_view content) {
  constexpr std::string_view kPreferredVariants[] = {"zh-hans", "zh-cn"};
  constexpr std::string_view kHidingFlags = "TH-";
  if (const size_t bar = content.find('|'); bar != kNone) {
    if (content.substr(0, bar).find_first_of(kHidingFlags) != kNone) return {};
    content.remove_prefix(bar + 1);
  }
  std::string_view first = content;
  bool is_first = true;
  for (std::string_view rest = content; !rest.empty(); is_first = false) {
    const size_t end = std::min(rest.find(';'), rest.size());
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const size_t colon = part.find(':');
    const std::string_view name = trim_ascii(part.substr(0, colon));
    if (!is_variant_name(name)) continue;
    const std::string_view text = trim_ascii(part.substr(colon + 1));
    if (contains(kPreferredVariants, name)) return text;
    if (is_first) first = text;
  }
  return trim_ascii(first);
}

// [[Mercury (planet)|]] shows "Mercury".
std::string_view pipe_trick(std::string_view target) {
  const size_t colon = target.find(':');
  if (colon != kNone) target.remove_prefix(colon + 1);
  return trim_ascii(target.substr(0, target.find(" (")));
}

bool is_language_code(std::string_view prefix) {
  return (prefix.size() == 2 || prefix.size() == 3) &&
         std::all_of(prefix.begin(), prefix.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

enum class Kind { kTemplate, kTable, kLink, kExternalLink, kConversion };

// Copies the page, remembers where what is open began in the copy, and cuts the copy back there
// when it closes.
class MarkupRemover {
 public:
  MarkupRemover(std::string_view source, const WikitextNames& names, WikitextCounts& counts)
      : source_(source), names_(names), counts_(counts) {}

  std::string remove() {
    while (at_ < source_.size()) {
      if (!take_markup()) copied_ += source_[at_++];
    }
    return std::move(copied_);
  }

 private:
  struct Opening {
    Kind kind;
    size_t begin;  // in copied_
  };

  bool take_markup() {
    switch (source_[at_]) {
      case '<':
        return take_comment() || take_tag();
      case '{':
        return take_opening_brace();
      case '}':
        return (starts_with("}-") && close_conversion()) || (starts_with("}}") && close_template());
      case '-':
        return take_conversion();
      case '|':
        return starts_with("|}") && close_table();
      case '[':
        return take_opening_bracket();
      case ']':
        return take_closing_bracket();
      case '\'':
        return take_quotes();
      case '\n':
        if (starts_with("\n\n")) drop_open_links();
        return false;
      default:
        return false;
    }
  }

  bool starts_with(std::string_view mark) const { return source_.substr(at_).starts_with(mark); }
  bool is_open(Kind kind) const { return !open_.empty() && open_.back().kind == kind; }
  void open(Kind kind, size_t mark_size) {
    at_ += mark_size;
    if (open_.size() < kDeepest) open_.push_back({kind, copied_.size()});
  }
  // Takes what the innermost opening holds out of the copy.
  std::string close(size_t mark_size) {
    std::string content = copied_.substr(open_.back().begin);
    copied_.resize(open_.back().begin);
    open_.pop_back();
    at_ += mark_size;
    return content;
  }

  bool take_comment() {
    if (!starts_with("<!--")) return false;
    const size_t end = source_.find("-->", at_ + 4);
    at_ = end == kNone ? source_.size() : end + 3;
    ++counts_.comments;
    return true;
  }

  // <ref name=x>, </div>, <br />: taken out; with the content, where that is not prose.
  bool take_tag() {
    const bool is_end = starts_with("</");
    size_t name_end = at_ + (is_end ? 2 : 1);
    const size_t name_begin = name_end;
    while (name_end < source_.size() &&
           std::isalnum(static_cast<unsigned char>(source_[name_end]))) {
      ++name_end;
    }
    const size_t end = source_.substr(0, name_end + kLongestTag).find('>', name_end);
    if (name_end == name_begin || end == kNone) return false;
    const std::string name = lower_ascii(source_.substr(name_begin, name_end - name_begin));
    const bool is_empty = is_end || source_[end - 1] == '/';
    at_ = end + 1;
    if (name == "br" || name == "hr") copied_ += ' ';
    if (is_empty || !contains(kDroppedElements, name)) return true;
    ++counts_.references;
    skip_element(name);
    return true;
  }

  // Goes to after </name>, or nowhere when it never comes.
  void skip_element(const std::string& name) {
    if (unclosed_.contains(name)) return;
    for (size_t begin = source_.find("</", at_); begin != kNone;
         begin = source_.find("</", begin + 2)) {
      if (lower_ascii(source_.substr(begin + 2, name.size())) != name) continue;
      const size_t end = source_.find('>', begin);
      if (end == kNone) break;
      at_ = end + 1;
      return;
    }
    unclosed_.insert(name);
  }

  bool take_opening_brace() {
    if (starts_with("{{")) {
      open(Kind::kTemplate, 2);
      return true;
    }
    if (!starts_with("{|") || !is_line_start()) return false;
    open(Kind::kTable, 2);
    return true;
  }

  bool is_line_start() const {
    size_t before = at_;
    while (before > 0 && (source_[before - 1] == ' ' || source_[before - 1] == ':')) --before;
    return before == 0 || source_[before - 1] == '\n';
  }

  // Whatever was opened inside the template and not closed ends with it.
  bool close_template() {
    const auto found = std::find_if(open_.rbegin(), open_.rend(), [](const Opening& opening) {
      return opening.kind == Kind::kTemplate;
    });
    if (found == open_.rend()) {
      at_ += 2;
      return true;
    }
    open_.erase(found.base(), open_.end());
    const std::string text = expanded_template(close(2));
    if (text.empty()) ++counts_.templates;
    copied_ += text;
    return true;
  }

  bool close_table() {
    if (!is_open(Kind::kTable)) return false;
    close(2);
    ++counts_.tables;
    return true;
  }

  // -{...}-, by which wikis of languages with several scripts write both; "-{{" is a template.
  bool take_conversion() {
    if (!starts_with("-{") || starts_with("-{{")) return false;
    open(Kind::kConversion, 2);
    return true;
  }

  bool close_conversion() {
    if (!is_open(Kind::kConversion)) return false;
    const std::string content = close(2);
    copied_ += shown_variant(content);
    return true;
  }

  bool take_opening_bracket() {
    if (starts_with("[[")) {
      open(Kind::kLink, 2);
      return true;
    }
    const std::string_view url = source_.substr(at_ + 1);
    if (std::none_of(std::begin(kUrlStarts), std::end(kUrlStarts),
                     [&](std::string_view start) { return url.starts_with(start); })) {
      return false;
    }
    open(Kind::kExternalLink, 1 + std::min(url.find_first_of(" ]\n"), url.size()));
    return true;
  }

  bool take_closing_bracket() {
    if (is_open(Kind::kExternalLink)) {
      const std::string label = close(1);
      copied_ += trim_ascii(label);
      return true;
    }
    if (!starts_with("]]") || !is_open(Kind::kLink)) return false;
    append_link(close(2));
    return true;
  }

  void append_link(std::string_view content) {
    const size_t bar = content.find('|');
    std::string_view target = content.substr(0, bar);
    const bool is_plain = target.starts_with(':');
    if (is_plain) target.remove_prefix(1);
    const size_t colon = target.find(':');
    if (colon != kNone && !is_plain) {
      const std::string_view prefix = trim_ascii(target.substr(0, colon));
      if (names_.drops_namespace(prefix)) {
        ++counts_.files;
        return;
      }
      if (bar == kNone && is_language_code(prefix)) return;
    }
    if (bar == kNone) {
      copied_ += target;
      return;
    }
    const std::string_view label = trim_ascii(content.substr(bar + 1));
    copied_ += label.empty() ? pipe_trick(target) : label;
  }

  // Links and conversions do not go on into the next paragraph.
  void drop_open_links() {
    while (is_open(Kind::kLink) || is_open(Kind::kExternalLink) || is_open(Kind::kConversion)) {
      open_.pop_back();
    }
  }

  // '' ''' ''''' are italic, bold and both; of more or of four, the rest are apostrophes.
  bool take_quotes() {
    const size_t end = std::min(source_.find_first_not_of('\'', at_), source_.size());
    const size_t run = end - at_;
    if (run == 1) return false;
    const size_t marks = run == 4 ? 3 : std::min<size_t>(run, 5);
    copied_.append(run - marks, '\'');
    at_ = end;
    return true;
  }

  std::string_view source_;
  const WikitextNames& names_;
  WikitextCounts& counts_;
  size_t at_ = 0;
  std::string copied_;
  std::vector<Opening> open_;
  std::set<std::string> unclosed_;  // elements whose end does not come any more
};

}  // namespace

std::string remove_wikitext_markup(std::string_view wikitext, const WikitextNames& names,
                                   WikitextCounts& counts) {
  return MarkupRemover(wikitext, names, counts).remove();
}

}  // namespace cloze::text
