// The forms of text that become a corpus, cut into sentences.
//
//   sentences       one sentence per line; a blank line ends a document
//   paragraphs      one paragraph per line, split into sentences here; a blank line ends a document
//   wrapped         paragraphs of one line or several, with blank lines between them, split into
//                   sentences here (wrapped_text.h); three blank lines or more end a document
//   jsonl           one document per line: {"text": "...", ...}; its lines are paragraphs
//   wikiextractor   WikiExtractor's output, <doc id=... url=... title=...> ...
//   wikipedia       a MediaWiki dump, or WikiExtractor's output
//                   both are made into paragraphs by wikipedia_text.h beforehand (text_source.h):
//                   here they are read as those
//   auto            whichever of these a file shows (form_recognition.h); text_source.h finds it
//                   out, and nothing here takes it
//
// Lines end with "\n". A line is blank when Python's str.strip() leaves nothing of it. Source:
// google-research/bert README ("one sentence per line").
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "text/sentence_splitter.h"

namespace cloze::data {

enum class TextFormat {
  kSentences,
  kParagraphs,
  kWrapped,
  kJsonLines,
  kWikiExtractor,
  kWikipedia,
  kAuto
};

// The way to read a text.
struct TextForm {
  TextFormat format = TextFormat::kSentences;
  std::string json_key = "text";  // of jsonl: the member that holds the document
  bool skip_bad_lines = false;    // of jsonl; else they are BadText
};

// UserError for any name but those above.
TextFormat text_format_from(std::string_view name);
std::string_view text_format_name(TextFormat format);
std::vector<std::string> text_format_names();

struct SentenceVisitor {
  std::function<void(std::string_view)> sentence;
  std::function<void()> document_end;
};

// Thrown where the text breaks its format; `place` points into it.
struct BadText {
  std::string message;
  const char* place = nullptr;

  bool is_in(std::string_view text) const;
  // "FILE:LINE:COLUMN: message", of a place in this file's text.
  std::string message_in(std::string_view text, const std::filesystem::path& file) const;
  // A DataError with that message, and what to do, if the place is in this file's text.
  void rethrow_if_in(std::string_view text, const std::filesystem::path& file) const;
};

struct ParagraphVisitor {
  std::function<void(std::string_view)> paragraph;
  std::function<void()> document_end = [] {};
  std::function<void(const BadText&)> skipped = [](const BadText&) {};  // a bad line
};

// Reads the paragraphs of `text` in order; the lines, for the form `sentences`. BadText for a
// line of jsonl that is not such an object, unless such lines are skipped.
void visit_paragraphs(std::string_view text, const TextForm& form, const ParagraphVisitor& visitor);

// Reads the sentences of texts in order, and splits paragraphs by what was learned from the corpus.
// Errors are those of visit_paragraphs(). Thread-safe.
class SentenceReader {
 public:
  explicit SentenceReader(const text::StopHabits& learned = {}) : splitter_(learned) {}
  void visit(std::string_view text, const TextForm& form, const SentenceVisitor& visitor) const;

 private:
  text::SentenceSplitter splitter_;
};

// Says whether a text of this form is split into sentences here.
inline bool is_split(TextFormat format) { return format != TextFormat::kSentences; }

// Cuts a text into pieces of about `bytes` that can be visited one after the other, or at once by
// several threads, with the same outcome as the whole; only a wrapped paragraph of more than
// kLongestParagraph may be cut, at the end of a line. Views into `text`.
std::vector<std::string_view> split_into_blocks(std::string_view text, size_t bytes,
                                                TextFormat format);

// The place after `from` where a document may begin: after the lines that end one, or at any line
// of jsonl. The text's size when none does.
size_t next_document(std::string_view text, size_t from, TextFormat format);

// The last place before `end`, and after `begin`, where a paragraph begins; else where a line does;
// `end` where none does.
size_t last_paragraph(std::string_view text, size_t begin, size_t end, TextFormat format);

// Says whether the text is that of Wikipedia, to be made into paragraphs first.
inline bool is_wikipedia(TextFormat format) {
  return format == TextFormat::kWikiExtractor || format == TextFormat::kWikipedia;
}

}  // namespace cloze::data
