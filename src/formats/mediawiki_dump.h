// A MediaWiki XML dump, read as it streams in: the pages, each with its newest revision's text.
//
//   <mediawiki> <page> <title/> <ns/> <redirect/>? <revision> ... <text/> </revision>+ </page> ...
//
// Source: mediawiki.org/xml/export-0.10.xsd and 0.11.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace cloze::formats {

struct MediaWikiPage {
  std::string title;
  int namespace_id = 0;  // 0: an article
  bool is_redirect = false;
  bool is_cut = false;  // the text is longer than any page may be, and was cut off
  std::string text;     // wikitext
};

class MediaWikiDump {
 public:
  using PageVisitor = std::function<void(MediaWikiPage)>;

  explicit MediaWikiDump(PageVisitor visitor);
  ~MediaWikiDump();

  // DataError with the position in the XML when it is not well formed. Pages before it were
  // visited.
  void feed(std::string_view bytes);
  void finish();  // DataError when the document is not complete

 private:
  struct State;
  void parse(std::string_view bytes, bool is_last);

  std::unique_ptr<State> state_;
};

}  // namespace cloze::formats
