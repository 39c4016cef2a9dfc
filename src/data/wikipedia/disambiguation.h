// Says whether a page only tells apart things of the same name.
//
// It does when its title ends with the language's word for that in brackets, "(disambiguation)",
// when it has the magic word __DISAMBIG__, or when it holds a template of which the whole name,
// case aside, is one of
//   disambiguation, disambig, disamb, dab, and every name that ends with one of these words
//   ("Airport disambiguation", "LatinNameDisambig"); each with " cleanup" or "-cleanup" too
//   dis, geodis, hndis, hospitaldis, mathdab, mathdis, numberdis, roaddis, schooldis, stationdis
//   their equivalents in ar de es fr it ja ko nl pl pt ru sv uk zh: Begriffsklärung,
//   Homonymie, Неоднозначность
// So {{disambiguation needed}}, which marks a word of an article, does not count.
// Source: en.wikipedia.org, Category:Disambiguation message boxes; mediawiki.org,
// Extension:Disambiguator.
#pragma once

#include <string_view>

namespace cloze::data {

struct PageParts {
  std::string_view title;
  std::string_view wikitext;
};

bool is_disambiguation(const PageParts& page);

}  // namespace cloze::data
