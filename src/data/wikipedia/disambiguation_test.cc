#include "data/wikipedia/disambiguation.h"

#include <gtest/gtest.h>

namespace cloze::data {
namespace {

TEST(Disambiguation, TheWholeNameOfATemplateTells) {
  for (const char* wikitext : {"{{disambiguation}}",
                               "{{DISAMBIGUATION}}",
                               "{{Disambig|geo}}",
                               "{{Airport disambiguation}}",
                               "{{airport_disambiguation}}",
                               "A\n{{ hndis |name=B}}",
                               "{{geodis}}",
                               "{{Dab}}",
                               "{{DAB}}",
                               "{{Template:Disambig}}",
                               "{{disambiguation cleanup|date=May}}",
                               "{{Hndis-cleanup}}",
                               "{{LatinNameDisambig}}",
                               "{{Multiple issues|{{disambig-cleanup}}}}",
                               "{{disambig\n|geo}}",
                               "{{Begriffsklärung}}",
                               "{{Homonymie}}",
                               "{{Disambigua}}",
                               "{{desambiguación}}",
                               "{{неоднозначность}}",
                               "{{aimai}}",
                               "x __DISAMBIG__"}) {
    EXPECT_TRUE(is_disambiguation({.title = "A", .wikitext = wikitext})) << wikitext;
  }
}

TEST(Disambiguation, TemplatesOfArticlesDoNot) {
  for (const char* wikitext :
       {"[[Mercury]]{{disambiguation needed|date=May 2015}} is hot.", "{{Disambiguation needed}}",
        "{{disambiguation link needed}}", "{{dn}}", "{{other uses|A (disambiguation)}}",
        "{{Redirect|B|other uses|B (disambiguation)}}", "{{for|x|disambig}}", "disambiguation}}",
        "{{disambig", "{{cite|title=disambiguation}}", "{{About|a|b|dab}}", "{{scrabble dabs}}",
        "{{Mehrdab}}", "{{Disambiguation page maker}}", "{{Nota disambigua|x|Roma}}",
        "{{Voir homonymie}}", "{{Ver desambiguação}}"}) {
    EXPECT_FALSE(is_disambiguation({.title = "A", .wikitext = wikitext})) << wikitext;
  }
}

TEST(Disambiguation, TheEndOfATitleTells) {
  for (const char* title : {"A (disambiguation)", "A (Begriffsklärung)", "А (значения)"}) {
    EXPECT_TRUE(is_disambiguation({.title = title, .wikitext = "x"})) << title;
  }
  for (const char* title : {"Disambiguation", "Word-sense disambiguation", "A (film)", "A ("}) {
    EXPECT_FALSE(is_disambiguation({.title = title, .wikitext = "x"})) << title;
  }
}

}  // namespace
}  // namespace cloze::data
