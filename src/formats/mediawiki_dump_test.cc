#include "formats/mediawiki_dump.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "base/error.h"

namespace cloze::formats {
namespace {

constexpr std::string_view kDump =
    "<mediawiki xml:lang=\"en\"><siteinfo><sitename>W</sitename></siteinfo>"
    "<page><title>A &amp; B</title><ns>0</ns><id>1</id><revision><id>2</id><comment>not "
    "this</comment><text xml:space=\"preserve\">one\n&lt;ref&gt; é</text></revision></page>"
    "<page><title>T</title><ns>10</ns><revision><text>old</text></revision><revision><text>new"
    "</text></revision></page>"
    "<page><title>R</title><ns>0</ns><redirect title=\"A\" /><revision><text/></revision></page>"
    "</mediawiki>";

std::vector<MediaWikiPage> read_pages(std::string_view dump, size_t block) {
  std::vector<MediaWikiPage> pages;
  MediaWikiDump reader([&](MediaWikiPage page) { pages.push_back(std::move(page)); });
  for (size_t begin = 0; begin < dump.size(); begin += block) {
    reader.feed(dump.substr(begin, block));
  }
  reader.finish();
  return pages;
}

TEST(MediaWikiDump, ReadsPagesHoweverTheBytesArrive) {
  for (const size_t block : {size_t{1}, size_t{7}, kDump.size()}) {
    const auto pages = read_pages(kDump, block);
    ASSERT_EQ(pages.size(), 3u);
    EXPECT_EQ(pages[0].title, "A & B");
    EXPECT_EQ(pages[0].text, "one\n<ref> é");
    EXPECT_EQ(pages[0].namespace_id, 0);
    EXPECT_FALSE(pages[0].is_redirect);
    EXPECT_EQ(pages[1].namespace_id, 10);
    EXPECT_EQ(pages[1].text, "new");
    EXPECT_TRUE(pages[2].is_redirect);
    EXPECT_EQ(pages[2].text, "");
  }
}

TEST(MediaWikiDump, TellsTheLanguageAndTheNamespacesBeforeTheFirstPage) {
  constexpr std::string_view kGerman =
      "<mediawiki xml:lang=\"de\"><siteinfo><namespaces><namespace key=\"0\" /><namespace "
      "key=\"6\" case=\"first-letter\">Datei</namespace><namespace key=\"14\">Kategorie"
      "</namespace></namespaces></siteinfo><page><title>A</title></page><namespace "
      "key=\"6\">late</namespace></mediawiki>";
  std::vector<MediaWikiSite> seen;
  MediaWikiDump* dump = nullptr;
  MediaWikiDump reader([&](const MediaWikiPage&) { seen.push_back(dump->site()); });
  dump = &reader;
  for (const char& byte : kGerman) reader.feed({&byte, 1});
  reader.finish();
  ASSERT_EQ(seen.size(), 1u);
  for (const MediaWikiSite& site : {seen[0], reader.site()}) {
    EXPECT_EQ(site.language, "de");
    ASSERT_EQ(site.namespaces.size(), 3u);
    EXPECT_EQ(site.namespaces[0].name, "");
    EXPECT_EQ(site.namespaces[1].id, 6);
    EXPECT_EQ(site.namespaces[1].name, "Datei");
    EXPECT_EQ(site.namespaces[2].id, 14);
    EXPECT_EQ(site.namespaces[2].name, "Kategorie");
  }
}

TEST(MediaWikiDump, GoesOnAfterAnyPage) {
  const auto titles = [](const std::vector<MediaWikiPage>& pages) {
    std::string all;
    for (const MediaWikiPage& page : pages) all += page.title + "\n";
    return all;
  };
  const std::string whole = titles(read_pages(kDump, kDump.size()));
  std::string before;
  MediaWikiDump first([&](const MediaWikiPage& page) {
    before += page.title + "\n";
    std::string after;
    MediaWikiDump second([&](const MediaWikiPage& rest) { after += rest.title + "\n"; });
    second.feed(kDump.substr(0, first.pages_begin()));
    EXPECT_EQ(second.site().language, "en");
    second.skip_to(first.page_end());
    second.feed(kDump.substr(first.page_end()));
    second.finish();
    EXPECT_EQ(before + after, whole);
    EXPECT_EQ(second.pages_begin(), first.pages_begin());
    EXPECT_TRUE(after.empty() || second.page_end() == kDump.size() - 12) << second.page_end();
  });
  first.feed(kDump);
  first.finish();
  EXPECT_EQ(before, whole);
}

TEST(MediaWikiDump, ABreakIsNamedWithItsPosition) {
  for (const std::string_view bad :
       {kDump.substr(0, 300), std::string_view("<a><b></a>"), std::string_view("text"),
        std::string_view("<a>\xFF</a>"), std::string_view("")}) {
    try {
      read_pages(bad, 50);
      ADD_FAILURE() << bad;
    } catch (const DataError& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("the XML breaks at byte ")) << error.what();
    }
  }
}

TEST(MediaWikiDump, ABreakAfterASkipIsNamedWithItsPlaceInTheDocument) {
  MediaWikiDump dump([](const MediaWikiPage&) {});
  dump.feed("<mediawiki>");
  dump.skip_to(1000);
  try {
    dump.feed("<page></title>");
    FAIL();
  } catch (const DataError& error) {
    EXPECT_EQ(std::string(error.what()), "the XML breaks at byte 1008: mismatched tag");
  }
}

TEST(MediaWikiDump, AnErrorOfTheVisitorComesThrough) {
  MediaWikiDump reader([](const MediaWikiPage&) { throw std::runtime_error("no space"); });
  EXPECT_THROW(reader.feed(kDump), std::runtime_error);
}

}  // namespace
}  // namespace cloze::formats
