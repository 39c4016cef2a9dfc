// The forms of text that become a corpus, cut into sentences.
//
//   sentences       one sentence per line; a blank line ends a document
//   paragraphs      one paragraph per line, split into sentences here; a blank line ends a document
//   jsonl           one document per line: {"text": "...", ...}; its lines are paragraphs
//   wikiextractor   WikiExtractor's output, <doc id=... url=... title=...> ...
//   wikipedia       a MediaWiki dump, or WikiExtractor's output
//                   both are made into paragraphs by wikipedia_text.h beforehand (text_source.h):
//                   here they are read as those
//
// Lines end with "\n" only. A line is blank when it holds nothing but white space in the sense of
// Python's str.strip. Source: google-research/bert README ("one sentence per line").
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "text/sentence_splitter.h"

namespace cloze::data {

enum class TextFormat { kSentences, kParagraphs, kJsonLines, kWikiExtractor, kWikipedia };

// UserError for any name but those above.
TextFormat text_format_from(std::string_view name);
std::string_view text_format_name(TextFormat format);
std::vector<std::string> text_format_names();

// UserError when the beginning of a file, before anything is made of it, shows that it is of
// another form. That a file is not a dump is found out where dumps are read.
void check_text_form(std::string_view text, TextFormat format, const std::filesystem::path& file);

struct SentenceVisitor {
  std::function<void(std::string_view)> sentence;
  std::function<void()> document_end;
};
struct ParagraphVisitor {
  std::function<void(std::string_view)> paragraph;
  std::function<void()> document_end;
};

// Thrown where the text breaks its format; `place` points into it.
struct BadText {
  std::string message;
  const char* place = nullptr;

  // DataError "FILE:LINE:COLUMN: message" if the place is in this file's text.
  void rethrow_if_in(std::string_view text, const std::filesystem::path& file) const;
};

// Reads the paragraphs of `text` in order; the lines, for the form `sentences`. BadText for a
// line of jsonl that is not such an object.
void visit_paragraphs(std::string_view text, TextFormat format, const ParagraphVisitor& visitor);

// Reads the sentences of texts in order, and splits paragraphs by what was learned from the corpus.
// Errors are those of visit_paragraphs(). Thread-safe.
class SentenceReader {
 public:
  explicit SentenceReader(const text::StopHabits& learned = {}) : splitter_(learned) {}
  void visit(std::string_view text, TextFormat format, const SentenceVisitor& visitor) const;

 private:
  text::SentenceSplitter splitter_;
};

// Whether a text of this form is split into sentences here.
inline bool is_split(TextFormat format) { return format != TextFormat::kSentences; }

// Cuts a text into pieces of about `bytes` that can be visited one after the other, or at once by
// several threads, with the same outcome as the whole. Views into `text`.
std::vector<std::string_view> split_into_blocks(std::string_view text, size_t bytes);

// Where a document may begin after `from`: after the line that ends one, or at any line of jsonl.
// The text's size when none does.
size_t next_document(std::string_view text, size_t from, TextFormat format);

bool is_blank(std::string_view line);

// Whether the text is that of Wikipedia, to be made into paragraphs first.
inline bool is_wikipedia(TextFormat format) {
  return format == TextFormat::kWikiExtractor || format == TextFormat::kWikipedia;
}

}  // namespace cloze::data
