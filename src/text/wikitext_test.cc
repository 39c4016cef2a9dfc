#include "text/wikitext.h"

#include <gtest/gtest.h>

#include "base/philox.h"

namespace cloze::text {
namespace {

std::string plain(std::string_view wikitext) {
  WikitextCounts counts;
  return plain_text_of_wikitext(wikitext, WikitextNames(), counts);
}

TEST(Wikitext, LinksLeaveTheirLabel) {
  EXPECT_EQ(plain("The [[cat]]s of [[Rome|the city]] and [[Mercury (planet)|]]."),
            "The cats of the city and Mercury.\n");
  EXPECT_EQ(plain("See [http://a.b/c the site] and [https://d.e]."), "See the site and.\n");
  EXPECT_EQ(plain("The [[:Category:Cats]] page."), "The Category:Cats page.\n");
}

TEST(Wikitext, FilesAndCategoriesGo) {
  WikitextCounts counts;
  EXPECT_EQ(plain_text_of_wikitext("[[File:a.jpg|thumb|A [[cat]] with {{x}} [http://a b].]]Cats "
                                   "sleep.[[Category:Cats]]\n[[fr:Chat]]",
                                   WikitextNames(), counts),
            "Cats sleep.\n");
  EXPECT_EQ(counts.files, 2);
}

TEST(Wikitext, TemplatesGoAndSomeSpeak) {
  WikitextCounts counts;
  EXPECT_EQ(plain_text_of_wikitext("{{Infobox|a={{b|c}}|d=[[e]]}}\nIt is {{convert|5|km|mi}} "
                                   "long{{snd}}or {{lang|fr|longue}}{{citation needed}}.",
                                   WikitextNames(), counts),
            "It is 5 km long – or longue.\n");
  EXPECT_EQ(counts.templates, 3);
}

TEST(Wikitext, MeasuresAndArgumentsByName) {
  const std::pair<const char*, const char*> pages[] = {
      {"{{convert|100|km|0}}", "100 km"},
      {"{{convert|100|km|mi|1|abbr=on}}", "100 km"},
      {"{{convert|disp=out|80|kg}}", "80 kg"},
      {"{{convert|100|to|200|km|mi}}", "100 to 200 km"},
      {"{{convert|3|-|5|m}}", "3–5 m"},
      {"{{convert|5|ft|11|in|m}}", "5 ft 11 in"},
      {"{{nowrap|1=E = mc}}", "E = mc"},
      {"{{lang|fr|italic=no|Le Monde}}", "Le Monde"},
      {"{{lang|2=Le Monde|1=fr}}", "Le Monde"},
      {"{{nowrap|{{convert|5|km}} away}}", "5 km away"},
      {"{{convert|30|x|20|x|10|m}}", "30 x 20 x 10 m"},
      {"{{convert|100|km|0|}}", "100 km"},
      {"{{nowrap|{{nowrap|1=E = mc}} today}}", "E = mc today"},
      {"{{nowrap|2=x|text}}", "text"},
  };
  for (const auto& [source, expected] : pages) {
    WikitextCounts counts;
    EXPECT_EQ(plain_text_of_wikitext(std::string("It is ") + source + ".", WikitextNames(), counts),
              std::string("It is ") + expected + ".\n")
        << source;
  }
}

TEST(Wikitext, TablesGo) {
  WikitextCounts counts;
  EXPECT_EQ(plain_text_of_wikitext("Before.\n{| class=a\n|-\n| x || {{y|z}}\n{|\n| inner\n|}\n|}\n"
                                   "After {a | b}.",
                                   WikitextNames(), counts),
            "Before.\nAfter {a | b}.\n");
  EXPECT_EQ(counts.tables, 2);
}

TEST(Wikitext, ElementsWithoutProseGo) {
  WikitextCounts counts;
  EXPECT_EQ(
      plain_text_of_wikitext("One<ref name=\"a\">{{cite}} x</ref> two<ref name=a /> "
                             "<math>x^2</math>three<!-- no --> <b>four</b> <REF>y</REF>5 < 6.",
                             WikitextNames(), counts),
      "One two three four 5 < 6.\n");
  EXPECT_EQ(counts.references, 3);
  EXPECT_EQ(counts.comments, 1);
}

TEST(Wikitext, HeadingsListsAndListingSectionsGo) {
  WikitextCounts counts;
  EXPECT_EQ(plain_text_of_wikitext("Lead.\n== Life ==\nText.\n* item\n# item\n: item\n=== See also "
                                   "===\nnot this\n==== Deeper ====\nnor this\n== Work ==\nMore.\n"
                                   "==References==\n{{reflist}}\nNor this.",
                                   WikitextNames(), counts),
            "Lead.\nText.\nMore.\n");
  EXPECT_EQ(counts.headings, 5);
  EXPECT_EQ(counts.list_items, 3);
  EXPECT_EQ(counts.sections, 2);
}

TEST(Wikitext, QuotesAndSpacesAreTidied) {
  EXPECT_EQ(plain("'''Ada''' ({{pron}}, ; born 1815) was '''''bold''''', L''''''Aquila&nbsp;said."),
            "Ada (born 1815) was bold, L'Aquila said.\n");
  EXPECT_EQ(plain("Ada ({{pron}}) , who (  x ) came  ."), "Ada, who (x) came.\n");
  EXPECT_EQ(plain("Don't use .NET"), "Don't use .NET\n");
}

TEST(Wikitext, WhatIsNotClosedKeepsItsText) {
  EXPECT_EQ(plain("A {{broken template.\n\nNext [[link\n\nLast ]] |} one."),
            "A broken template.\nNext link\nLast ]] |} one.\n");
  EXPECT_EQ(plain("A <ref>never closed."), "A never closed.\n");
  EXPECT_EQ(plain("A <!-- never closed"), "A\n");
  EXPECT_EQ(plain("{|\n| cell\nText."), "Text.\n");
}

TEST(Wikitext, OneVariantOfAConversionIsLeft) {
  const std::pair<const char*, const char*> pages[] = {
      {"-{zh-hans:计算机; zh-hant:電腦;}-好", "计算机好"},
      {"-{zh-hant:電腦;zh-cn:计算机}-好", "计算机好"},
      {"-{A|zh-hant:電腦;zh-hans:计算机}-好", "计算机好"},
      {"-{T|zh-hans:题;zh-hant:題}-正文-{H|zh-cn:软件;zh-tw:軟體}-", "正文"},
      {"-{乾隆}-年", "乾隆年"},
      {"-{R|http://a}-年", "http://a年"},
      {"-{sr-ec:да; sr-el:da}-", "да"},
      {"-{zh-hans:[[计算机|电脑]]; zh-hant:[[計算機|電腦]]}-好", "电脑好"},
      {"a -{{x}}- b", "a -- b"},
      {"未-{闭\n\n[[合]]", "未闭\n合"},
  };
  for (const auto& [source, expected] : pages) {
    EXPECT_EQ(plain(source), std::string(expected) + "\n") << source;
  }
}

TEST(Wikitext, NothingIsNothing) {
  for (const char* text :
       {"", "\n\n", "====", "= =", "__NOTOC__", "{{}}", "[[]]", "12 34", "{{", "[["}) {
    EXPECT_EQ(plain(text), "") << text;
  }
}

// Any bytes: no crash, and the result is no longer than the input (a template can only shrink).
TEST(Wikitext, RandomMarkupIsTaken) {
  constexpr std::string_view kPieces[] = {
      "{{",         "}}",      "[[",     "]]",    "{|",    "|}",       "|", "\n",
      "'''",        "<ref>",   "</ref>", "<!--",  "-->",   "==",       "a", " ",
      "[http://x ", "]",       "&amp;",  "-{",    "}-",    "zh-hans:", ";", "\xC3",
      "lang",       "convert", ":",      "File:", "<br/>", "*"};
  PhiloxStream random(1, 0);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (int i = 0; i < 40; ++i) text += kPieces[random.below(std::size(kPieces))];
    EXPECT_LE(plain(text).size(), text.size() + 1) << text;
  }
}

// Each run of a mark alone and before a run of another: quadratic work would not end.
TEST(Wikitext, AMillionUnclosedMarksAreReadOnce) {
  constexpr std::string_view kMarks[] = {
      "",  "{{",       "[[", "[[a|", "<ref>",  "<!--",   "{|\n", "}}", "]]",    "|}",
      "<", "[http://", "]",  "\n\n", "</ref>", "{{a|b|", "-{",   "}-", "-{a;b:"};
  for (const std::string_view first : kMarks) {
    for (const std::string_view second : kMarks) {
      std::string text;
      while (!first.empty() && text.size() < 500'000) text += first;
      while (!second.empty() && text.size() < 1'000'000) text += second;
      EXPECT_LE(plain(text).size(), text.size()) << first << " before " << second;
    }
  }
}

}  // namespace
}  // namespace cloze::text
