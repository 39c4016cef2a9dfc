// A MediaWiki XML dump, read as it streams in: what it says of its wiki, and the pages, each with
// its newest revision's text.
//
//   <mediawiki xml:lang> <siteinfo> <namespaces> <namespace key/>* ...
//     <page> <title/> <ns/> <redirect/>? <revision> ... <text/> </revision>+ </page> ...
//
// Source: mediawiki.org/xml/export-0.10.xsd and 0.11.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cloze::formats {

struct MediaWikiNamespace {
  int id = 0;        // 6: files, 14: categories
  std::string name;  // in the language of the wiki; empty for articles
};

// Complete when the first page is visited.
struct MediaWikiSite {
  std::string language;  // as "en"; empty when the dump does not say
  std::vector<MediaWikiNamespace> namespaces;
};

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
  const MediaWikiSite& site() const;

  // The places in the document where the first page begins and the last complete one ends. To
  // resume, feed another MediaWikiDump [0, pages_begin()), call skip_to(page_end()) and feed what
  // follows: it visits the pages from there on.
  uint64_t pages_begin() const;
  uint64_t page_end() const;
  // Expects that nothing before this place will be fed.
  void skip_to(uint64_t place);

 private:
  struct State;
  void parse(std::string_view bytes, bool is_last);

  std::unique_ptr<State> state_;
};

}  // namespace cloze::formats
