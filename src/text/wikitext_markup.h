// The first of the two passes over wikitext: takes out what lies inside lines and across them
// (comments, elements, templates, tables, links, quotes). Lines keep their first characters, by
// which the second pass (wikitext.cc) knows headings and lists.
#pragma once

#include <string>
#include <string_view>

#include "text/wikitext.h"

namespace cloze::text {

std::string remove_wikitext_markup(std::string_view wikitext, const WikitextNames& names,
                                   WikitextCounts& counts);

}  // namespace cloze::text
