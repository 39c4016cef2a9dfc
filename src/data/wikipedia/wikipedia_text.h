// Wikipedia to plain text: one sentence or paragraph a line, a blank line after each article, as
// `cloze data records` reads it.
//
//   MediaWiki dump (.xml, .xml.bz2; multistream or not)   articles only: no redirects, no
//       disambiguation pages (disambiguation.h), no other namespaces;
//       cleaned by text/wikitext.h, with the names of namespaces that the dump lists
//   WikiExtractor output (files that begin with <doc)     titles and headings taken off by
//       extract_article.h; what markup it still holds is cleaned in the same way
//
// Files are told apart by their first bytes; one named .bz2 is a dump. Decompression and cleaning
// use all threads; the text is the same for any number of them.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "data/wikipedia/dump_reader.h"
#include "text/sentence_splitter.h"
#include "text/wikitext.h"

namespace cloze::data {

struct WikipediaOptions {
  std::vector<std::filesystem::path> files;
  std::filesystem::path name;  // in messages, of a single file; empty: its path
  int threads = 1;
  // The language of the names in the wikitext (text/wikitext_names.h); empty: as the dump says,
  // English for WikiExtractor output, which does not say.
  std::string language;
  std::vector<std::string> listing_sections;  // headings of sections to leave out as well
  bool may_be_empty = false;  // allows no article to be left: other files of a corpus may have some
  bool skip_bad = false;      // a broken dump: keep what came before, and go on with the next file
  int64_t batch_bytes = 8 << 20;                     // of wikitext, cleaned together
  const text::SentenceSplitter* splitter = nullptr;  // none: paragraphs stay whole
  // Reading may end once this many bytes were written.
  int64_t enough_bytes = std::numeric_limits<int64_t>::max();
};

struct WikipediaCounts {
  int64_t pages = 0;
  int64_t redirects = 0;
  int64_t other_namespaces = 0;
  int64_t disambiguations = 0;
  int64_t cut = 0;    // longer than any page may be
  int64_t empty = 0;  // no text was left
  int64_t articles = 0;
  int64_t sentences = 0;   // or paragraphs
  int64_t bytes_read = 0;  // wikitext of the articles, or extracted text
  int64_t bytes_written = 0;
  int64_t bad_files = 0;
  text::WikitextCounts dropped;
};

struct WikipediaProgress {
  std::atomic<int64_t> bytes{0};         // of the files
  std::atomic<int64_t> bytes_before{0};  // of these, before an interruption
  std::atomic<int64_t> total_bytes{0};
  std::atomic<int64_t> articles{0};
};

// The place of the reading, between two articles.
struct WikipediaState {
  int64_t file = 0;    // the next one to go on with,
  DumpPosition dump;   // in a dump,
  int64_t blocks = 0;  // and in WikiExtractor output
  // The habits that write_wikipedia_text() learned before it began.
  text::StopHabits habits;
  WikipediaCounts counts;
};

struct WikipediaVisitor {
  std::function<void(std::string_view)> text;        // some articles; one after the other
  std::function<void(const WikipediaState&)> pause;  // after these: what it takes to go on
  std::function<void(const std::string&)> notice;    // of each broken file that is skipped
};

// Reads from where `start` is. DataError for a broken file that is not to be skipped. UserError for
// a file of neither form, and when no article is left.
WikipediaCounts read_wikipedia(const WikipediaOptions& options, const WikipediaState& start,
                               WikipediaProgress& progress, const WikipediaVisitor& visitor);

}  // namespace cloze::data
