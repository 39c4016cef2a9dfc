#include "data/creation/wikipedia_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "formats/bzip2_compressed_test.h"
#include "platform/files/atomic_file.h"
#include "platform/files/file.h"
#include "platform/interrupted_test.h"

namespace cloze::data {
namespace {

namespace fs = std::filesystem;

// 3 MB, of which the first page comes after some text about the wiki.
std::string dump(int seed) {
  std::string dump =
      "<mediawiki xml:lang=\"de\"><siteinfo><namespaces><namespace key=\"6\">Illustration"
      "</namespace></namespaces></siteinfo>\n";
  for (int page = 0; page < 4000; ++page) {
    dump += fmt::format(
        "<page><title>T{0}</title><ns>{1}</ns><revision><text>[[Illustration:x.jpg|No.]] Page {0} "
        "of {2}.\n\n",
        page, page % 10 == 9 ? 10 : 0, seed);
    for (int i = 0; i < 15; ++i) {
      dump += fmt::format("Number {} times [[{}]] is {{{{x}}}} much. ", page * 17 + i, i * page);
    }
    dump += "\n== Quellen ==\nNothing.</text></revision></page>\n";
  }
  return dump + "</mediawiki>\n";
}

std::string extract() {
  std::string text;
  for (int i = 0; i < 30'000; ++i) {
    text += fmt::format(
        "<doc id=\"{0}\" title=\"T{0}\">\nT{0}\n\nPage {0} is text. It ends.\n"
        "</doc>\n",
        i);
  }
  return text;
}

class WikipediaFileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              (std::string("cloze_wikipedia_file_") +
               testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path stored(const std::string& name, const std::string& content) const {
    platform::write_file_atomically(folder_ / name, content);
    return folder_ / name;
  }
  WikipediaFileOptions options(const std::vector<fs::path>& files,
                               const std::string& output) const {
    return {.input = {.files = files, .threads = 2, .batch_bytes = 20'000},
            .output_file = folder_ / output,
            .save_bytes = 100'000};
  }
  WikipediaCounts write(const WikipediaFileOptions& options) {
    WikipediaProgress progress;
    return write_wikipedia_text(options, progress,
                                [&](const std::string& notice) { notices_.push_back(notice); });
  }
  int interrupt(const WikipediaFileOptions& options, int signal, int saves) {
    return platform::status_of_interrupted_before(
        options.output_file, {.journal = journal(), .signal = signal, .saves = saves},
        [&] { write(options); });
  }
  fs::path journal() const { return folder_ / "cut.journal.partial"; }
  std::string refusal(const WikipediaFileOptions& options) {
    try {
      write(options);
    } catch (const UserError& error) {
      return error.what();
    }
    return "accepted";
  }

  fs::path folder_;
  std::vector<std::string> notices_;
};

TEST_F(WikipediaFileTest, AnInterruptedTextIsTheSame) {
  const std::vector<fs::path> files{stored("a.xml.bz2", formats::bzip2_compressed(dump(1), 1)),
                                    stored("b.xml", dump(2)), stored("c.txt", extract())};
  const WikipediaFileOptions cut = options(files, "cut");
  const WikipediaCounts counts = write(options(files, "whole"));
  EXPECT_EQ(counts.articles, 2 * 3600 + 30'000);
  const int interruptions = platform::interruptions_until_done(
      {.journal = journal()}, 7, [&] { write(cut); },
      [&] {
        EXPECT_TRUE(!fs::exists(folder_ / "cut") ||
                    platform::read_file(folder_ / "cut") == platform::read_file(folder_ / "whole"))
            << "the text has its name only once it is whole";
      });
  ASSERT_GE(interruptions, 7);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 5) << "all else is gone";

  // The counts are those of all, not of the last life.
  for (const int saves : {3, 10, 16}) {
    notices_.clear();
    ASSERT_EQ(interrupt(cut, SIGKILL, saves), -SIGKILL);
    const WikipediaCounts resumed = write(cut);
    EXPECT_EQ(resumed.pages, counts.pages);
    EXPECT_EQ(resumed.other_namespaces, counts.other_namespaces);
    EXPECT_EQ(resumed.articles, counts.articles);
    EXPECT_EQ(resumed.sentences, counts.sentences);
    EXPECT_EQ(resumed.bytes_read, counts.bytes_read);
    EXPECT_EQ(resumed.bytes_written, counts.bytes_written);
    EXPECT_EQ(resumed.dropped.templates, counts.dropped.templates);
    EXPECT_EQ(resumed.dropped.files, counts.dropped.files) << "names of the dump's own language";
    ASSERT_EQ(notices_.size(), 1u);
    EXPECT_TRUE(notices_[0].starts_with("continuing where this was interrupted, after "));
  }
}

TEST_F(WikipediaFileTest, OtherOptionsAndOtherFilesAreRefused) {
  const WikipediaFileOptions asked = options({stored("a.xml", dump(1))}, "cut");
  ASSERT_EQ(interrupt(asked, SIGKILL, 3), -SIGKILL);
  const std::string journal = this->journal().string();
  WikipediaFileOptions other = asked;
  other.input.language = "fr";
  EXPECT_EQ(refusal(other), journal +
                                " belongs to interrupted work with --language \"\", this "
                                "command has \"fr\"; give the same command to continue, or "
                                "delete that file to start over");
  stored("a.xml", dump(2));
  EXPECT_EQ(refusal(asked),
            journal +
                " belongs to interrupted work on other content of --input-file; give "
                "the same files to continue, or delete that file to start over");
  stored("a.xml", dump(1));
  EXPECT_EQ(refusal(asked), "accepted");
}

TEST_F(WikipediaFileTest, ABrokenDumpLeavesNothing) {
  const std::string whole = dump(1);
  const WikipediaFileOptions asked =
      options({stored("a.xml", whole.substr(0, whole.size() / 2))}, "cut");
  EXPECT_NE(refusal(asked).find("the XML breaks at byte "), std::string::npos);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

// It may come back, as a network disk does.
TEST_F(WikipediaFileTest, AFileThatIsAwayCostsNoWork) {
  const std::string whole = dump(1);
  const fs::path other = stored("b.xml", dump(2));
  WikipediaFileOptions asked =
      options({stored("a.xml", whole.substr(0, whole.size() - 40)), other}, "cut");
  asked.input.skip_bad = true;
  WikipediaProgress progress;
  const auto lose_other = [&](const std::string& notice) {
    if (notice.find("a.xml") != std::string::npos) fs::remove(other);  // at its break
  };
  EXPECT_THROW(write_wikipedia_text(asked, progress, lose_other), UserError);
  EXPECT_TRUE(fs::exists(journal()));
  stored("b.xml", dump(2));
  EXPECT_EQ(refusal(asked), "accepted");
  EXPECT_TRUE(notices_.front().starts_with("continuing where this was interrupted"));
}

}  // namespace
}  // namespace cloze::data
