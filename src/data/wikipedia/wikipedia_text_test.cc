#include "data/wikipedia/wikipedia_text.h"

#include <gtest/gtest.h>

#include "base/data_folder_test.h"
#include "base/error.h"
#include "platform/files/atomic_file.h"
#include "platform/files/input_paths.h"

namespace cloze::data {
namespace {

std::string page(const std::string& title, const std::string& text, const std::string& extra = "",
                 int namespace_id = 0) {
  return "<page><title>" + title + "</title><ns>" + std::to_string(namespace_id) + "</ns>" + extra +
         "<revision><text>" + text + "</text></revision></page>";
}

struct Written {
  WikipediaCounts counts;
  std::string text;
  std::vector<std::string> notices;
};

Written write(const WikipediaOptions& options) {
  Written written;
  WikipediaProgress progress;
  const text::SentenceSplitter splitter;
  WikipediaOptions splitting = options;
  splitting.splitter = &splitter;
  written.counts = read_wikipedia(
      splitting, {}, progress,
      {.text = [&](std::string_view text) { written.text += text; },
       .pause = [](const WikipediaState&) {},
       .notice = [&](const std::string& notice) { written.notices.push_back(notice); }});
  return written;
}

Written write(const std::vector<std::filesystem::path>& files, int threads = 2,
              bool skip_bad = false) {
  return write(WikipediaOptions{.files = files, .threads = threads, .skip_bad = skip_bad});
}

std::string stored(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + name;
  platform::write_file_atomically(path, text);
  return path;
}

TEST(WikipediaText, KeepsTheSentencesOfArticles) {
  const std::string dump = stored(
      "wikipedia_text_test.xml",
      "<mediawiki>" + page("A", "'''A''' is [[b]]. It is {{x}} old.\n\nNew paragraph.") +
          page("R", "#REDIRECT [[A]]", "<redirect title=\"A\"/>") + page("T", "template", "", 10) +
          page("A (disambiguation)", "A may be.") + page("B", "{{disambig}} B may be.") +
          page("E", "{{only}}") + page("C", "C is last.") + "</mediawiki>");
  const Written written = write({dump});
  EXPECT_EQ(written.text, "A is b.\nIt is old.\nNew paragraph.\n\nC is last.\n\n");
  EXPECT_EQ(written.counts.pages, 7);
  EXPECT_EQ(written.counts.redirects, 1);
  EXPECT_EQ(written.counts.other_namespaces, 1);
  EXPECT_EQ(written.counts.disambiguations, 2);
  EXPECT_EQ(written.counts.empty, 1);
  EXPECT_EQ(written.counts.articles, 2);
  EXPECT_EQ(written.counts.sentences, 4);
  EXPECT_EQ(written.counts.dropped.templates, 2);
}

TEST(WikipediaText, ParagraphsStayWholeWithoutASplitterAndEnoughIsEnough) {
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "paragraphs.txt";
  platform::write_file_atomically(file, "<doc>\nT\n\nIt is. It was.\n</doc>\n");
  WikipediaProgress progress;
  std::string text;
  const auto read = [&](const WikipediaOptions& options) {
    text.clear();
    read_wikipedia(options, {}, progress,
                   {.text = [&](std::string_view more) { text += more; },
                    .pause = [](const WikipediaState&) {},
                    .notice = [](const std::string&) {}});
    return text;
  };
  EXPECT_EQ(read({.files = {file, file}}), "It is. It was.\n\nIt is. It was.\n\n");
  EXPECT_EQ(read({.files = {file, file}, .enough_bytes = 1}), "It is. It was.\n\n");
}

TEST(WikipediaText, TakesWikiExtractorsFormToo) {
  const std::string extract = stored("wikipedia_text_test.txt",
                                     "<doc id=\"1\" title=\"A\">\nA\n\nA is b. It is old.\n</doc>\n"
                                     "<doc id=\"2\" title=\"C\">\nC\n\nC is last.\n</doc>\n");
  const Written written = write({extract});
  EXPECT_EQ(written.text, "A is b.\nIt is old.\n\nC is last.\n\n");
  EXPECT_EQ(written.counts.articles, 2);
}

TEST(WikipediaText, DisambiguationPagesGoAndArticlesThatPointAtOneStay) {
  const std::string dump =
      stored("wikipedia_text_test_disambiguation.xml",
             "<mediawiki>" + page("A", "A is [[b]]{{disambiguation needed|date=May 2015}}.") +
                 page("B", "{{DISAMBIGUATION}} B may be.") +
                 page("C", "C may be.{{Airport disambiguation}}") + "</mediawiki>");
  const Written written = write({dump});
  EXPECT_EQ(written.text, "A is b.\n\n");
  EXPECT_EQ(written.counts.disambiguations, 2);
}

TEST(WikipediaText, ADumpNamesItsFilesCategoriesAndClosingSectionsItself) {
  const std::string article = page("K",
                                   "Katzen [[Datei:k.jpg|mini|Eine [[Katze]]]]schlafen.\n\n"
                                   "[[Illustration:x.jpg|Bild]]\n[[Kategorie:Tier]]\n"
                                   "== Einzelnachweise ==\nNicht dies.\n== Mehr ==\nDies.\n"
                                   "== Verweise ==\nOder dies.");
  const std::string german =
      stored("wikipedia_text_test_german.xml",
             "<mediawiki xml:lang=\"de\"><siteinfo><namespaces><namespace key=\"6\">Illustration"
             "</namespace></namespaces></siteinfo>" +
                 article + "</mediawiki>");
  EXPECT_EQ(write({german}).text, "Katzen schlafen.\nDies.\nOder dies.\n\n");
  EXPECT_EQ(write({.files = {german}, .listing_sections = {"Verweise"}}).text,
            "Katzen schlafen.\nDies.\n\n");
  const std::string silent =
      stored("wikipedia_text_test_silent.xml", "<mediawiki>" + article + "</mediawiki>");
  EXPECT_EQ(write({.files = {silent}, .language = "de"}).text,
            "Katzen schlafen.\nBild\nDies.\nOder dies.\n\n");
}

TEST(WikipediaText, WikiExtractorsTextIsCleanedByTheSameRules) {
  const std::string extract = stored(
      "wikipedia_text_test_markup.txt",
      "<doc id=\"1\" title=\"A\">\nA\n\nA is b.\nEarly life.\nIt is <br>old &amp; has "
      "[[c|many c]]s.<ref name=\"x\">no</ref>\n}}{{#if:\n |&rft.au={{urlencode:}}\n}}\n"
      "[[File:x.jpg|thumb|No.]]\n[[Category:Cs]]\n</dl>\nReferences.\n<poem>\n"
      "Not this, which is a list of many books.\n</doc>\n"
      "<doc id=\"2\" title=\"A (disambiguation)\">\nA (disambiguation)\n\nA may be.\n</doc>\n");
  const Written written = write({extract});
  EXPECT_EQ(written.text, "A is b.\nIt is old & has many cs.\n\n");
  EXPECT_EQ(written.counts.pages, 2);
  EXPECT_EQ(written.counts.disambiguations, 1);
  EXPECT_EQ(written.counts.dropped.headings, 2);
  EXPECT_EQ(written.counts.dropped.sections, 1);
  EXPECT_EQ(written.counts.dropped.files, 2);
}

TEST(WikipediaText, ARealExtractIsClean) {
  const DataFolder data({"wikipedia/AB"});
  if (!data.missing().empty()) GTEST_SKIP() << data.missing();
  const Written written = write(platform::expand_paths((data / "wikipedia/AB/*").string()));
  EXPECT_EQ(written.counts.pages, 6466);
  EXPECT_GT(written.counts.articles, 6000);
  EXPECT_GT(written.counts.dropped.headings, 50'000);
  for (const char* markup : {"<br", "</dl>", "</poem>", "<ref>", "[[Category:", "[[File:", "{{#if",
                             "&amp;", "\nExternal links.\n", "\nHistory.\n"}) {
    EXPECT_EQ(written.text.find(markup), std::string::npos) << markup;
  }
}

TEST(WikipediaText, ABrokenDumpStopsOrIsNoted) {
  const std::string broken = stored("wikipedia_text_test_broken.xml",
                                    "<mediawiki>" + page("A", "A is b.") + "<page><title>B</tit");
  const std::string whole = stored("wikipedia_text_test_whole.xml",
                                   "<mediawiki>" + page("C", "C is last.") + "</mediawiki>");
  EXPECT_THROW(write({broken, whole}), DataError);
  const Written written = write({broken, whole}, 2, /*skip_bad=*/true);
  EXPECT_EQ(written.text, "A is b.\n\nC is last.\n\n");
  EXPECT_EQ(written.counts.bad_files, 1);
  ASSERT_EQ(written.notices.size(), 1u);
  EXPECT_TRUE(written.notices[0].starts_with(broken + ": the XML breaks at byte "));
}

TEST(WikipediaText, OtherFilesAndEmptyDumpsAreRefused) {
  const std::string other = stored("wikipedia_text_test_other.txt", "plain text");
  try {
    write({other});
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.what(),
              other +
                  " is neither a MediaWiki dump (<mediawiki ...>, or bzip2) nor WikiExtractor "
                  "output (<doc ...>); plain text needs no cleaning: give it to cloze data tokens, "
                  "or to cloze pretrain as input_file");
  }
  EXPECT_THROW(write({stored("wikipedia_text_test_empty.xml", "<mediawiki></mediawiki>")}),
               UserError);
}

TEST(WikipediaText, ARealDumpIsCleanForAnyNumberOfThreads) {
  const DataFolder data({"mediawiki_xml"});
  if (!data.missing().empty()) GTEST_SKIP() << data.missing();
  const auto files = platform::expand_paths((data / "mediawiki_xml/*.bz2").string());
  const Written written = write(files, 2);
  EXPECT_EQ(write(files, 1).text, written.text);
  EXPECT_EQ(written.counts.pages, 206);
  EXPECT_GT(written.counts.articles, 50);
  for (const char* markup : {"[[", "]]", "{{", "{|", "<ref", "'''", "&nbsp;", "File:"}) {
    EXPECT_EQ(written.text.find(markup), std::string::npos) << markup;
  }
}

}  // namespace
}  // namespace cloze::data
