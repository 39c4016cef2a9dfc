#include "data/wikipedia/dump_reader.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "formats/bzip2_compressed_test.h"
#include "platform/files/atomic_file.h"
#include "platform/files/own_folder_test.h"

namespace cloze::data {
namespace {

namespace fs = std::filesystem;

class DumpReaderTest : public platform::OwnFolderTest {
 protected:
  fs::path stored(const std::string& name, const std::string& content) const {
    platform::write_file_atomically(folder_ / name, content);
    return folder_ / name;
  }
  static std::string failure_of(DumpReader& reader) {
    try {
      reader.read();
    } catch (const DataError& error) {
      return error.what();
    }
    return "read";
  }
};

const std::string kPages =
    "<mediawiki><page><title>A</title><revision><text>a</text></revision></page>"
    "<page><title>B</title><revision><text>b</text></revision></page>\n";

// Some blocks of text.
std::string filler() {
  std::string text;
  while (text.size() < 3 << 20) text += std::to_string(text.size() * 7919) + "\n";
  return text;
}

TEST_F(DumpReaderTest, GoesOnWhenTheLastPageEndsInAnEarlierBlock) {
  const std::string whole = kPages + filler() + "</mediawiki>\n";
  for (const fs::path& path :
       {stored("a.xml", whole), stored("a.xml.bz2", formats::bzip2_compressed(whole, 1))}) {
    DumpReader reader(path, {});
    EXPECT_EQ(reader.read().size(), 2u);
    EXPECT_LE(reader.position().block_begin, reader.position().next_page);
    DumpReader rest(path, {.start = reader.position()});
    EXPECT_TRUE(rest.read().empty()) << path;
  }
}

TEST_F(DumpReaderTest, GoesOnBeforeABreak) {
  const fs::path path = stored("a.xml", kPages + filler());
  DumpReader reader(path, {});
  EXPECT_EQ(reader.read().size(), 2u);
  DumpReader rest(path, {.start = reader.position()});
  EXPECT_TRUE(failure_of(rest).starts_with(path.string() + ": the XML breaks at byte "));
}

TEST_F(DumpReaderTest, KnowsBzip2ByItsFirstBytesAndSaysTheNameThatItWasTold) {
  const std::string bytes = formats::bzip2_compressed(kPages + "</mediawiki>");
  EXPECT_EQ(DumpReader(stored("dump", bytes), {}).read().size(), 2u);
  DumpReader cut(stored("cut", bytes.substr(0, bytes.size() - 9)), {.name = "-"});
  EXPECT_TRUE(failure_of(cut).starts_with("-: the bzip2 data ends too soon"));
  DumpReader broken(stored("broken", "<mediawiki></page>"), {.name = "-"});
  EXPECT_TRUE(failure_of(broken).starts_with("-: the XML breaks"));
}

}  // namespace
}  // namespace cloze::data
