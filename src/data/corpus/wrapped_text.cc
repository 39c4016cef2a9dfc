#include "data/corpus/wrapped_text.h"

#include <string>

#include "data/corpus/corpus_text.h"
#include "text/ascii.h"
#include "text/python_string.h"
#include "text/sentence_marks.h"
#include "text/utf8.h"

namespace cloze::data {
namespace {

class WrappedParagraph {
 public:
  void add(std::string_view line) {
    line = text::trim_ascii(line);
    if (!text_.empty() && !(ends_unspaced() && is_of_unspaced_script(line, 0))) text_ += ' ';
    text_ += line;
  }
  bool is_longest() const { return text_.size() >= kLongestParagraph; }
  void end(const std::function<void(std::string_view)>& visit) {
    if (!text_.empty()) visit(text_);
    text_.clear();
  }

 private:
  bool ends_unspaced() const {
    return is_of_unspaced_script(
        text_, text_.size() - text::decode_utf8_before(text_, text_.size()).bytes);
  }

  std::string text_;
};

}  // namespace

bool is_of_unspaced_script(std::string_view text, size_t at) {
  const char32_t c = text::decode_utf8(text, at).code_point;
  const bool is_burmese = c >= 0x1000 && c <= 0x109F;
  const bool is_khmer = c >= 0x1780 && c <= 0x17FF;
  const bool is_punctuation = (c >= 0x3001 && c <= 0x303F) || (c >= 0xFF01 && c <= 0xFF65);
  return text::is_unspaced(text, at) || text::is_thai_or_lao(text, at) || is_burmese || is_khmer ||
         is_punctuation;
}

void visit_wrapped(std::string_view text, const std::function<void(std::string_view)>& paragraph,
                   const std::function<void()>& document_end) {
  WrappedParagraph open;
  int blank_lines = 0;
  while (!text.empty()) {
    const std::string_view line = text::take_line(text);
    if (text::is_blank(line)) {
      open.end(paragraph);
      if (++blank_lines == kBlankLinesBetweenDocuments) document_end();
      continue;
    }
    blank_lines = 0;
    open.add(line);
    if (open.is_longest()) open.end(paragraph);
  }
  open.end(paragraph);
}

size_t after_blank_lines(std::string_view text, size_t from, int blank_lines) {
  std::string_view rest = text.substr(from);
  for (int blank = 0; !rest.empty();) {
    std::string_view after = rest;
    const bool is_line_blank = text::is_blank(text::take_line(after));
    if (!is_line_blank && blank >= blank_lines) return text.size() - rest.size();
    blank = is_line_blank ? blank + 1 : 0;
    rest = after;
  }
  return text.size();
}

}  // namespace cloze::data
