#include "data/wikipedia/wikipedia_text.h"

#include <gtest/gtest.h>

#include "base/data_folder_test.h"
#include "base/error.h"
#include "platform/file.h"

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

Written write(const std::vector<std::filesystem::path>& files, int threads = 2,
              bool skip_bad = false) {
  const std::string output = testing::TempDir() + "wikipedia_text_test.out";
  std::filesystem::remove(output);
  Written written;
  WikipediaProgress progress;
  written.counts = write_wikipedia_text(
      {.files = files, .output_file = output, .threads = threads, .skip_bad = skip_bad}, progress,
      [&](const std::string& notice) { written.notices.push_back(notice); });
  written.text = platform::read_file(output);
  return written;
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

TEST(WikipediaText, TakesWikiExtractorsFormToo) {
  const std::string extract = stored("wikipedia_text_test.txt",
                                     "<doc id=\"1\" title=\"A\">\nA\n\nA is b. It is old.\n</doc>\n"
                                     "<doc id=\"2\" title=\"C\">\nC\n\nC is last.\n</doc>\n");
  const Written written = write({extract});
  EXPECT_EQ(written.text, "A is b.\nIt is old.\n\nC is last.\n\n");
  EXPECT_EQ(written.counts.articles, 2);
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
  EXPECT_THROW(write({stored("wikipedia_text_test_other.txt", "plain text")}), UserError);
  EXPECT_THROW(write({stored("wikipedia_text_test_empty.xml", "<mediawiki></mediawiki>")}),
               UserError);
}

TEST(WikipediaText, ARealDumpIsCleanForAnyNumberOfThreads) {
  const char* data = data_folder();
  if (data == nullptr) GTEST_SKIP() << "CLOZE_DATA is not set";
  const auto files = platform::expand_paths(std::string(data) + "/mediawiki_xml/*.bz2");
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
