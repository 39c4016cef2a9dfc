// Wrapped text: paragraphs of one line or several, with blank lines between them, as in plain text
// from Project Gutenberg, e-mails and Markdown.
//
// The lines of a paragraph are joined with a space; without one between characters of scripts that
// are written without spaces (Chinese, Japanese, Thai, Lao, Burmese, Khmer). A hyphen at the end of
// a line stays, followed by the space: BERT's tokenizers make a token of it either way. Three
// blank lines or more end a document. A paragraph ends at kLongestParagraph even without a blank
// line.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

namespace cloze::data {

inline constexpr size_t kLongestParagraph = 1 << 20;  // bytes, after which it ends with its line
inline constexpr int kBlankLinesBetweenDocuments = 3;

void visit_wrapped(std::string_view text, const std::function<void(std::string_view)>& paragraph,
                   const std::function<void()>& document_end);

// The beginning of the line after the next run of at least `blank_lines` blank lines; `from` begins
// a line. The text's size when none does.
size_t after_blank_lines(std::string_view text, size_t from, int blank_lines);

// Says whether text[at] is a character of a script that is written without spaces between words.
bool is_of_unspaced_script(std::string_view text, size_t at);

}  // namespace cloze::data
