#include "data/wikipedia/extract_article.h"

#include <algorithm>

#include "text/ascii.h"
#include "text/utf8.h"

namespace cloze::data {
namespace {

constexpr std::string_view kBeginTag = "<doc";
constexpr std::string_view kEndTag = "</doc";
constexpr int kMostHeadingWords = 6;

int count_words(std::string_view line) {
  int words = 0;
  bool is_in_word = false;
  for (const char c : line) {
    const bool is_space = text::is_ascii_space(c);
    if (!is_space && !is_in_word) ++words;
    is_in_word = !is_space;
  }
  return words;
}

// "<h2>Early life</h2>" -> "Early life".
std::optional<std::string_view> tagged_heading(std::string_view line) {
  const bool is_tagged = line.size() > 9 && line.starts_with("<h") && line[2] >= '1' &&
                         line[2] <= '6' && line[3] == '>' &&
                         line.substr(line.size() - 5).starts_with("</h");
  if (!is_tagged) return std::nullopt;
  return line.substr(4, line.size() - 9);
}

std::optional<std::string_view> heading_in(std::string_view line) {
  if (const auto tagged = tagged_heading(line)) return tagged;
  const bool is_one_phrase = line.size() > 1 && line.find_first_of(".!?;:") == line.size() - 1 &&
                             line.ends_with('.') && count_words(line) <= kMostHeadingWords;
  if (!is_one_phrase) return std::nullopt;
  return line.substr(0, line.size() - 1);
}

}  // namespace

std::vector<std::string_view> blocks_of_articles(std::string_view text, size_t bytes) {
  std::vector<std::string_view> blocks;
  while (!text.empty()) {
    const size_t border = text.find("\n<doc", std::min(bytes, text.size()));
    const size_t end = border == std::string_view::npos ? text.size() : border + 1;
    blocks.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return blocks;
}

std::optional<ExtractArticle> take_extract_article(std::string_view& text) {
  while (!text.empty()) {
    const std::string_view line = text::without_byte_order_mark(text::take_line(text));
    if (!text::trim_ascii(line).starts_with(kBeginTag)) continue;
    ExtractArticle article{.title = text::trim_ascii(text::take_line(text)), .body = text};
    size_t body_bytes = 0;
    while (!text.empty() && !text.starts_with(kBeginTag) && !text.starts_with(kEndTag)) {
      text::take_line(text);
      body_bytes = article.body.size() - text.size();
    }
    article.body = article.body.substr(0, body_bytes);
    return article;
  }
  return std::nullopt;
}

std::string wikitext_of(const ExtractArticle& article) {
  std::string wikitext;
  std::string_view rest = article.body;
  bool is_first = true;
  while (!rest.empty()) {
    const std::string_view line = text::trim_ascii(text::take_line(rest));
    const auto heading = heading_in(line);
    const bool is_heading = heading && !is_first;
    if (is_heading) wikitext += "== ";
    wikitext += is_heading ? *heading : line;
    wikitext += is_heading ? " ==\n" : "\n";
    is_first = is_first && line.empty();
  }
  return wikitext;
}

}  // namespace cloze::data
