// The articles of WikiExtractor's output, one by one.
//
//   <doc id=... url=... title="Anarchism">
//   Anarchism                              the title, once more
//
//   Anarchism is a political philosophy.   a paragraph a line
//   Etymology and terminology.             a heading: as such, or <h2>Etymology ...</h2>
//   </doc>
//
// A heading looks like a paragraph. A line is taken for one when it has at most six words and no
// full stop, colon, semicolon, question or exclamation mark but the full stop at its end, and is
// not the article's first: of lines like that, in the English Wikipedia, nearly all with up to six
// words are headings, and few with more.
//
// Source: github.com/attardi/wikiextractor, versions 2 and 3.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cloze::data {

struct ExtractArticle {
  std::string_view title;
  std::string_view body;
};

// Cuts the text into pieces of about `bytes` that hold whole articles. Views into `text`.
std::vector<std::string_view> blocks_of_articles(std::string_view text, size_t bytes);

// Takes the next article off `text`; none when there is none left.
std::optional<ExtractArticle> take_extract_article(std::string_view& text);

// The body with its headings written as wikitext writes them, "== Etymology ==".
std::string wikitext_of(const ExtractArticle& article);

}  // namespace cloze::data
