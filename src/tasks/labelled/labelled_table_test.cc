#include "tasks/labelled/labelled_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
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
        rows +=
            fmt::format("{}|{}|{}@{} ", row.text, row.pair, fmt::join(row.labels, "+"), row.line);
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

constexpr auto kSets = [](std::string column, std::string separator = "|") {
  return TableOptions{.label_column = std::move(column),
                      .has_label_sets = true,
                      .label_separator = std::move(separator)};
};

TEST_F(LabelledTableTest, RowsMayHaveSeveralLabelsOrNone) {
  EXPECT_EQ(said("text,tags\na,x | y\nb,\nc,z\nd,|\n", kSets("")), "a||x+y@2 b||@3 c||z@4 d||@5 ");
  EXPECT_EQ(said("text,tags\na,x y; z\n", kSets("tags", ";")), "a||x y+z@2 ");
  EXPECT_EQ(said("[{\"text\": \"a\"}, {\"text\": \"b\", \"intents\": [\"x\", 2]}, "
                 "{\"text\": \"c\", \"intents\": []}]",
                 kSets("")),
            "a||@1 b||x+2@2 c||@3 ");
  EXPECT_EQ(said("{\"text\": \"a\", \"labels\": \"x|y\"}", kSets("")), "a||x+y@1 ");
  EXPECT_EQ(said("{\"text\": \"a\", \"labels\": [\"x|y\", \"\", \"z\"]}", kSets("")),
            "a||x|y+z@1 ");
  EXPECT_EQ(said("text,rude,mild\na,1,0\nb,FALSE,true\nc,0,0\n", kSets("rude,mild")),
            "a||rude@2 b||mild@3 c||@4 ");
  EXPECT_EQ(said("text,\"a,b\"\nx,y|z\n", kSets("a,b")), "x||y+z@2 ");  // a column of that name
  const LabelledTable table = read("text,tags\na,x\n,y\nb,\n", kSets(""));
  EXPECT_EQ(table.without_label, 1);
  EXPECT_TRUE(describe(table).ends_with(
      ": 2 rows, texts in text, labels in tags; left out: 1 without text; 1 have no label"));
}

TEST_F(LabelledTableTest, RefusesLabelSetsThatItCannotRead) {
  EXPECT_EQ(said("text,rude,mild\na,1,0\nb,2,0\n", kSets("rude,mild")),
            "t:3: '2' in rude; whether this label holds must be 1 or 0");
  EXPECT_EQ(said("text,rude,mild\na,1,\n", kSets("rude,mild")),
            "t:2: '' in mild; whether this label holds must be 1 or 0");
  EXPECT_EQ(said("text,rude\na,1\n", kSets("rude,mild")),
            "t has no column mild, which label_column names; it has text, rude");
  EXPECT_EQ(said("{\"text\": \"a\", \"labels\": [[1]]}", kSets("")),
            "t:1: an entry of labels is an array; it must be a text, a number, true or false");
  EXPECT_EQ(said("{\"text\": \"a\", \"labels\": {\"x\": 1}}", kSets("")),
            "t:1: labels is an object; it must be a text, a number, true or false");
  EXPECT_EQ(said("text,tags\n,x\n", kSets("")), "t holds no row with a text");
}

TEST_F(LabelledTableTest, RowsMayHaveChoices) {
  const auto chosen = [&](const std::string& text, const std::string& column = "") {
    try {
      std::string rows;
      for (const LabelledText& row :
           read(text, {.has_choices = true, .choice_column = column}).rows) {
        rows += fmt::format("{}|{}|{}={} ", row.text, row.pair, fmt::join(row.choices, "/"),
                            row.labels.front());
      }
      return rows;
    } catch (const UserError& error) {
      return std::string(error.what()).substr((folder_ / "t").string().size());
    }
  };
  EXPECT_EQ(chosen("question,choice0,choice1,choice2,label\na,x,y,z,0\nb,x,y,,1\n"),
            "a||x/y/z=0 b||x/y=1 ");
  EXPECT_EQ(chosen("sentence1,sentence2,ending_a,ending_b,label\na,b,x,y,1\n"), "a|b|x/y=1 ");
  EXPECT_EQ(chosen("text,no,yes,label\na,x,y,1\n", "no,yes"), "a||x/y=1 ");
  EXPECT_EQ(chosen("{\"question\": \"a\", \"choices\": [\"x\", 2, null], \"label\": \"B\"}"),
            "a||x/2=B ");
  EXPECT_EQ(chosen("text,choice0,choice1,choice2,label\na,x,y,z,0\nb,x,,z,2\n"),
            ":3: choice 1 of 3 is empty; write it, or leave the row out");
  EXPECT_EQ(chosen("{\"text\": \"a\", \"options\": [\"x\"], \"label\": 0}"),
            " holds no row with a text, choices and a label");
  EXPECT_EQ(chosen("text,choice0,label\na,x,0\n"),
            " has the columns text, choice0, label; name those of the choices with choice_column");
  EXPECT_EQ(chosen("text,x,y,label\na,x,y,0\n", "x,z"),
            " has no column z, which choice_column names; it has text, x, y, label");
  const LabelledTable table =
      read("text,choice0,choice1,label\na,x,,0\nb,x,y,0\n", {.has_choices = true});
  EXPECT_TRUE(
      describe(table).ends_with(": 1 rows, texts in text, choices in choice0,choice1, labels "
                                "in label; left out: 1 without two choices"));
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
