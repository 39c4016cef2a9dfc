#include "text/html_entities.h"

#include <gtest/gtest.h>

namespace cloze::text {
namespace {

TEST(HtmlEntities, NamesAndNumbers) {
  EXPECT_EQ(decode_html_entities("Caf&eacute; &amp; &#8211; &#x2013;&nbsp;&lt;b&gt;"),
            "Café & – –\u00A0<b>");
}

TEST(HtmlEntities, WhatIsNoneStays) {
  for (const char* text : {"AT&T", "&", "&;", "&unknown;", "&#;", "&#x;", "&#xD800;", "&#x110000;",
                           "&#12a;", "&averyveryverylongname;", "a &am", ""}) {
    EXPECT_EQ(decode_html_entities(text), text);
  }
}

TEST(HtmlEntities, AReferenceIsDecodedOnce) { EXPECT_EQ(decode_html_entities("&amp;lt;"), "&lt;"); }

}  // namespace
}  // namespace cloze::text
