#include "data/corpus/form_recognition.h"

#include <fmt/format.h>

#include <algorithm>

#include "data/corpus/text_markup.h"
#include "data/corpus/wrapped_text.h"
#include "platform/parallel_for.h"
#include "text/ascii.h"
#include "text/python_string.h"
#include "text/sentence_marks.h"
#include "text/sentence_splitter.h"
#include "text/utf8.h"

namespace cloze::data {
namespace {

constexpr size_t kSampleBytes = 64 << 10;
constexpr int64_t kEnoughSentences = 10;
constexpr int64_t kEnoughInnerLines = 4;
constexpr int64_t kEnoughLines = 40;     // to tell other forms where lines look wrapped
constexpr double kShareOfSeveral = 0.2;  // of the lines of text that holds paragraphs
constexpr double kShareOfLone = 0.75;    // of those lines, where blank lines part paragraphs
// The limits by which wrapped text is told:
constexpr double kShareOfInnerLines = 0.2;
constexpr double kShareOfFullLines = 0.75;
constexpr double kMostEndedLines = 0.5;
constexpr double kFewestEndsInside = 0.05;  // a line: even the longest sentences end
// People who wrap by hand, or count accents, leave some room.
constexpr double kFullLine = 0.85;
constexpr size_t kOneLongerLineIn = 20;

double share(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// The width in columns: a character of Chinese or Japanese takes two.
size_t width_of(std::string_view line) {
  size_t width = 0;
  for (size_t at = 0; at < line.size(); at += text::decode_utf8(line, at).bytes) {
    width += text::is_unspaced(line, at) ? 2 : 1;
  }
  return width;
}

// The first word would have to fit into the line before.
size_t width_of_first_word(std::string_view line) {
  constexpr size_t kLongestWord = 16;
  if (text::is_unspaced(line, 0)) return 2;
  if (is_of_unspaced_script(line, 0)) return kLongestWord / 2;
  return std::min(kLongestWord, width_of(line.substr(0, line.find(' '))));
}

// Says whether a stop ends the line, whatever closes after it.
bool has_stop_at_end(std::string_view line) {
  while (!line.empty()) {
    const size_t last = line.size() - text::decode_utf8_before(line, line.size()).bytes;
    if (text::stop_length(line, last) > 0) return true;
    if (text::closer_after_spaced_stop_length(line, last) == 0) return false;
    line = line.substr(0, last);
  }
  return false;
}

// A part of the text: whole lines as far as there are any, from the first that begins after
// `begin`.
std::string_view sample_at(std::string_view text, size_t begin) {
  if (begin > 0) begin = std::min(text.find('\n', begin), text.size() - 1) + 1;
  const std::string_view sample = text.substr(begin, kSampleBytes);
  if (begin + sample.size() == text.size()) return sample;
  return sample.substr(0, last_paragraph(sample, 0, sample.size(), TextFormat::kParagraphs));
}

size_t indent_of(std::string_view line) {
  return std::min(line.find_first_not_of(" \t"), line.size());
}

size_t least_indent_of(std::string_view lines) {
  size_t least = std::string_view::npos;
  while (!lines.empty()) {
    const std::string_view line = text::take_line(lines);
    if (!text::is_blank(line)) least = std::min(least, indent_of(line));
  }
  return least;
}

// The width that one of twenty exceeds.
size_t longest_of(std::vector<size_t> widths) {
  if (widths.empty()) return 0;
  const auto longest = widths.end() - 1 - static_cast<int64_t>(widths.size() / kOneLongerLineIn);
  std::ranges::nth_element(widths, longest);
  return *longest;
}

struct FormDescription {
  RecognisedForm form;
  std::string_view what;
};
constexpr FormDescription kDescriptions[] = {
    {{TextFormat::kSentences}, "one a line"},
    {{TextFormat::kSentences, false}, "one a line, as there is too little text to tell"},
    {{TextFormat::kParagraphs}, "one a line"},
    {{TextFormat::kParagraphs, false}, "one a line, like the other files"},
    {{TextFormat::kWrapped}, "of any number of lines, with blank lines between paragraphs"},
    {{TextFormat::kWrapped, false}, "with blank lines between paragraphs, like the other files"},
    {{TextFormat::kJsonLines}, "a JSON object a line"},
    {{TextFormat::kWikiExtractor}, "<doc ...>"},
    {{TextFormat::kWikipedia}, "a MediaWiki dump"}};

// The forms of the texts that show it by themselves, and what the lines of plain texts show
// together.
struct Recognition {
  std::vector<std::optional<TextFormat>> forms;
  LineEvidence all;
};

Recognition recognition_of(const std::vector<std::string_view>& texts, int threads) {
  Recognition recognition{.forms = std::vector<std::optional<TextFormat>>(texts.size())};
  std::vector<LineEvidence> evidence(texts.size());
  platform::parallel_for(std::ssize(texts), threads, [&](int64_t i) {
    recognition.forms[i] = form_by_markup(texts[i]);
    if (recognition.forms[i]) return;
    evidence[i] = LineEvidence(texts[i]);
    recognition.forms[i] = evidence[i].form();
  });
  for (const LineEvidence& one : evidence) recognition.all += one;
  return recognition;
}

}  // namespace

// Widths of lines, in columns.
struct LineEvidence::Widths {
  std::vector<size_t> lines;
  std::vector<size_t> reaches;  // of lines with the first word of the next one
};

LineEvidence::LineEvidence(std::string_view text) {
  Widths widths;
  look_at(sample_at(text, 0), widths);
  if (text.size() > 4 * kSampleBytes) look_at(sample_at(text, text.size() / 2), widths);
  const double full = kFullLine * static_cast<double>(longest_of(std::move(widths.lines)));
  full_lines_ = std::ranges::count_if(
      widths.reaches, [&](size_t reach) { return static_cast<double>(reach) >= full; });
}

void LineEvidence::look_at(std::string_view lines, Widths& widths) {
  const text::SentenceSplitter splitter;
  const size_t least_indent = least_indent_of(lines);
  std::string_view before;  // the line before, if this one goes on with its paragraph
  bool is_lone = false;     // the line before follows a blank one, and holds several sentences
  while (!lines.empty()) {
    const std::string_view whole_line = text::take_line(lines);
    const std::string_view line = text::trim_ascii(whole_line);
    if (text::is_blank(line)) {
      lone_lines_of_several_ += is_lone ? 1 : 0;
      before = {};
      is_lone = false;
      continue;
    }
    const auto sentences = std::ssize(splitter.split(line));
    lines_ += 1;
    sentences_ += sentences;
    lines_of_several_ += sentences > 1 ? 1 : 0;
    const bool is_after_blank = before.empty();
    if (indent_of(whole_line) > least_indent) before = {};
    is_lone = is_after_blank && sentences > 1;
    widths.lines.push_back(width_of(line));
    if (!before.empty()) {
      inner_lines_ += 1;
      ended_lines_ += has_stop_at_end(before) ? 1 : 0;
      widths.reaches.push_back(width_of(before) + 1 + width_of_first_word(line));
    }
    before = line;
  }
  lone_lines_of_several_ += is_lone ? 1 : 0;
}

LineEvidence& LineEvidence::operator+=(const LineEvidence& other) {
  lines_ += other.lines_;
  sentences_ += other.sentences_;
  lines_of_several_ += other.lines_of_several_;
  lone_lines_of_several_ += other.lone_lines_of_several_;
  inner_lines_ += other.inner_lines_;
  full_lines_ += other.full_lines_;
  ended_lines_ += other.ended_lines_;
  return *this;
}

bool LineEvidence::may_be_wrapped() const {
  return share(full_lines_, inner_lines_) >= kShareOfFullLines &&
         share(ended_lines_, inner_lines_) <= kMostEndedLines &&
         share(ends_inside(), lines_) >= kFewestEndsInside;
}

bool LineEvidence::is_wrapped() const {
  return may_be_wrapped() && inner_lines_ >= kEnoughInnerLines &&
         share(inner_lines_, lines_) >= kShareOfInnerLines && 2 * ends_inside() > ended_lines_;
}

std::optional<TextFormat> LineEvidence::form() const {
  if (is_wrapped()) return TextFormat::kWrapped;
  const bool is_unclear = may_be_wrapped() && lines_ < kEnoughLines;
  if (sentences_ < kEnoughSentences || is_unclear) return std::nullopt;
  if (share(lines_of_several_, lines_) < kShareOfSeveral) return TextFormat::kSentences;
  const bool is_alone =
      lines_ > 1 && share(lone_lines_of_several_, lines_of_several_) >= kShareOfLone;
  return is_alone ? TextFormat::kWrapped : TextFormat::kParagraphs;
}

std::vector<RecognisedForm> recognised_forms(const std::vector<std::string_view>& texts,
                                             int threads) {
  const Recognition recognition = recognition_of(texts, threads);
  const RecognisedForm otherwise{recognition.all.form().value_or(TextFormat::kSentences), false};
  std::vector<RecognisedForm> forms;
  for (const auto& form : recognition.forms) {
    forms.push_back(form ? RecognisedForm{*form} : otherwise);
  }
  return forms;
}

std::string describe_forms(const std::vector<std::filesystem::path>& files,
                           const std::vector<RecognisedForm>& forms) {
  std::string text;
  for (const FormDescription& description : kDescriptions) {
    const auto count = std::ranges::count(forms, description.form);
    if (count == 0) continue;
    const auto first = std::ranges::find(forms, description.form) - forms.begin();
    if (!text.empty()) text += ", ";
    text += files[static_cast<size_t>(first)].string();
    if (count > 1) text += fmt::format(" and {} more", count - 1);
    text += fmt::format(" as {} ({})", text_format_name(description.form.format), description.what);
  }
  return fmt::format("read {}; set --input-format to read {} otherwise", text,
                     files.size() == 1 ? "it" : "them");
}

}  // namespace cloze::data
