#include "tasks/labelled/labelled_table.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "platform/files/own_folder_test.h"

namespace cloze::tasks {
namespace {

class LabelledTableTest : public platform::OwnFolderTest {
 protected:
  LabelledTable read(const std::string& text, const TableOptions& options = {}) {
    const std::filesystem::path path = folder_ / "t";
    std::ofstream(path, std::ios::binary) << text;
    return read_labelled_table(path, options);
  }
  // "TEXT|PAIR|LABEL@LINE ..." of the rows; the message, without the path, of an error.
  std::string said(const std::string& text, const TableOptions& options = {}) {
    try {
      std::string rows;
      for (const LabelledText& row : read(text, options).rows) {
        rows += row.text + "|" + row.pair + "|" + row.label + "@" + std::to_string(row.line) + " ";
      }
      return rows;
    } catch (const UserError& error) {
      std::string message = error.what();
      const std::string path = (folder_ / "t").string();
      for (size_t at; (at = message.find(path)) != std::string::npos;)
        message.replace(at, path.size(), "t");
      return message;
    }
  }
};

TEST_F(LabelledTableTest, FindsFormAndColumns) {
  const std::string rows = "good||pos@2 bad||neg@3 ";
  EXPECT_EQ(said("text,label\ngood,pos\nbad,neg\n"), rows);
  EXPECT_EQ(said("\xEF\xBB\xBFText,Label\ngood,pos\nbad,neg\n"), rows);
  EXPECT_EQ(said("id\tsentence\tclass\n1\tgood\tpos\n2\tbad\tneg"), rows);
  EXPECT_EQ(said("label;review;stars\npos;good;5\nneg;bad;1\n"), rows);
  EXPECT_EQ(said("what,label\ngood,pos\nbad,neg\n"), rows);  // of two, the other
  EXPECT_EQ(said("text,quality\r\ngood,pos\r\nbad,neg\r\n"), rows);
  EXPECT_EQ(said("premise,hypothesis,label\na,b,1\n"), "a|b|1@2 ");
  EXPECT_EQ(said("a,b,c\nx,y,z\n", {.text_column = "c", .pair_column = "a", .label_column = "b"}),
            "z|x|y@2 ");
}

TEST_F(LabelledTableTest, ReadsJson) {
  EXPECT_EQ(said("{\"text\": \"good\", \"label\": 1}\n\n{\"label\": true, \"text\": \"bad\"}\n"),
            "good||1@1 bad||true@3 ");
  EXPECT_EQ(said("[{\"text\": \"good\", \"label\": 0.5}]"), "good||0.5@1 ");
  EXPECT_EQ(said("{\"text\": \"a\", \"label\": [1]}"),
            "t:1: label is an array; it must be a text, a number, true or false");
  EXPECT_EQ(said("{\"text\": \"a\", \"label\": 1}\n7"), "t:2: is no JSON object");
  EXPECT_EQ(said("[]"), "t holds no row with a text and a label");
  EXPECT_TRUE(said("{\"text\": \"a\", \"label\": 1}\n{\"text\"").starts_with("t:2: "));
  EXPECT_TRUE(said("[{\"text\": \"a\"").starts_with("t:1:"));
}

TEST_F(LabelledTableTest, CountsWhatItLeavesOut) {
  const LabelledTable table = read("text,label\n,a\n  ,a\nx,\ny,b\n");
  EXPECT_EQ(table.without_text, 2);
  EXPECT_EQ(table.without_label, 1);
  EXPECT_EQ(table.rows.size(), 1u);
  EXPECT_TRUE(describe(table).ends_with(
      ": 1 rows, texts in text, labels in label; left out: 2 without text, 1 without label"));
  EXPECT_EQ(
      said("{\"text\": null, \"label\": 1}\n{\"text\": \"b\", \"label\": 2}\n{\"text\": \"c\"}"),
      "b||2@2 ");
  EXPECT_EQ(said("sentence1,sentence2,label\na,,1\nb,c,1\n"), "b|c|1@3 ");
}

TEST_F(LabelledTableTest, RefusesAndNamesTheLine) {
  EXPECT_EQ(said(""), "t is empty");
  EXPECT_EQ(said("\n\n"), "t is empty");
  EXPECT_EQ(said("text,label\n"), "t holds no row with a text and a label");
  EXPECT_EQ(said("text,label\na,b,c\n"),
            "t:2: 3 fields instead of the header's 2; enclose a text that holds ',' or a line "
            "break in double quotes");
  EXPECT_EQ(said("text\tlabel\na\tb\nc\n"),
            "t:3: 1 fields instead of the header's 2; enclose a text that holds '\\t' or a line "
            "break in double quotes");
  EXPECT_EQ(said("text,text,label\na,b,c\n"), "t:1: two columns are called text; rename one");
  EXPECT_EQ(said("one,two,three\na,b,c\n"),
            "t has the columns one, two, three; name that of the labels with label_column");
  EXPECT_EQ(said("one,two,label\na,b,c\n"),
            "t has the columns one, two, label; name that of the texts with text_column");
  EXPECT_EQ(said("text,label\na,b\n", {.text_column = "Review"}),
            "t has no column Review, which text_column names; it has text, label");
  EXPECT_EQ(said("text,label\na,b\n", {.text_column = "label"}),
            "t: texts and labels would both be label; name two columns");
  EXPECT_EQ(said("text,label\na,b\n\xFF"
                 "c,d\n"),
            "t:3: is not UTF-8; convert the file");
  EXPECT_TRUE(said("text,label\n\"a,b\n")
                  .starts_with("t:2: the quote that begins a field here is not closed"));
  EXPECT_EQ(said("text,label\n\"a,b\n", {.quotes = false}), "\"a||b@2 ");
  EXPECT_TRUE(said(std::string("t\0e\0x\0t\0", 8)).starts_with("t:1: a byte is zero"));
}

}  // namespace
}  // namespace cloze::tasks
