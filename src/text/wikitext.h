// Wikitext to plain text: the running prose of a MediaWiki page, one paragraph a line.
//
// Dropped, and counted: comments, templates (but for a few that stand for a piece of prose, such as
// {{convert}}, {{lang}} and dashes), tables, references and other elements that are not prose,
// files and categories, headings, list items, and the sections that only list, by the names of
// wikitext_names.h. Links leave their label, and -{zh-hans:...; zh-hant:...}- what simplified
// Chinese writes, or else the first variant. Whatever is not closed keeps its text.
//
// Time and memory are linear in the page. Source: mediawiki.org, Help:Formatting, Help:Links,
// Help:Tables, Help:Templates, Writing systems/Syntax.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "text/wikitext_names.h"

namespace cloze::text {

// Counts of what was dropped.
struct WikitextCounts {
  int64_t comments = 0;
  int64_t templates = 0;
  int64_t tables = 0;
  int64_t references = 0;  // and other elements with content that is not prose
  int64_t files = 0;       // and categories
  int64_t headings = 0;
  int64_t list_items = 0;
  int64_t sections = 0;

  WikitextCounts& operator+=(const WikitextCounts& other);
};

// Adds to `counts`.
std::string plain_text_of_wikitext(std::string_view wikitext, const WikitextNames& names,
                                   WikitextCounts& counts);

}  // namespace cloze::text
