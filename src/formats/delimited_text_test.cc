#include "formats/delimited_text.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "base/error.h"
#include "base/philox.h"

namespace cloze::formats {
namespace {

using Fields = std::vector<std::string>;

std::vector<Fields> rows_of(const std::string& text, DelimitedForm form = {}) {
  DelimitedRows rows(text, form, "a.csv");
  std::vector<Fields> all;
  while (rows.next()) all.push_back(rows.fields());
  return all;
}

std::string error_of(const std::string& text, DelimitedForm form = {}) {
  try {
    rows_of(text, form);
  } catch (const DataError& error) {
    return error.what();
  }
  return "no error";
}

TEST(DelimitedTextTest, ReadsFieldsAndRows) {
  EXPECT_EQ(rows_of("a,b\n1,2\n"), (std::vector<Fields>{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(rows_of("a,b\r\n1,2"), (std::vector<Fields>{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(rows_of("a,b\r1,2\r"), (std::vector<Fields>{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(rows_of("a\tb", {.delimiter = '\t'}), (std::vector<Fields>{{"a", "b"}}));
  EXPECT_EQ(rows_of(",\n"), (std::vector<Fields>{{"", ""}}));
  EXPECT_EQ(rows_of("a,"), (std::vector<Fields>{{"a", ""}}));
  EXPECT_EQ(rows_of(""), std::vector<Fields>{});
}

TEST(DelimitedTextTest, EmptyLinesAreNoRows) {
  EXPECT_EQ(rows_of("\n\r\na,b\n\n\n1,2\n\n"), (std::vector<Fields>{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(rows_of("\"\"\n"), (std::vector<Fields>{{""}}));
}

TEST(DelimitedTextTest, QuotesEnclose) {
  EXPECT_EQ(rows_of("\"a, b\",\"c \"\"d\"\"\"\n\"two\nlines\",x\n"),
            (std::vector<Fields>{{"a, b", "c \"d\""}, {"two\nlines", "x"}}));
  EXPECT_EQ(rows_of("5\" disk,b\n"), (std::vector<Fields>{{"5\" disk", "b"}}));
}

TEST(DelimitedTextTest, QuotesMayMeanNothing) {
  EXPECT_EQ(rows_of("\"a, b\",c\n", {.has_quotes = false}),
            (std::vector<Fields>{{"\"a", " b\"", "c"}}));
}

TEST(DelimitedTextTest, ARowBeginsAtItsLine) {
  DelimitedRows rows("a\n\n\"1\n2\n3\"\r\nb\n", {}, "a.csv");
  std::vector<int64_t> lines;
  while (rows.next()) lines.push_back(rows.line());
  EXPECT_EQ(lines, (std::vector<int64_t>{1, 3, 6}));
}

TEST(DelimitedTextTest, ErrorsNameTheLine) {
  EXPECT_TRUE(error_of("a,b\n1,\"two\n")
                  .starts_with("a.csv:2: the quote that begins a field here is not closed"));
  EXPECT_TRUE(
      error_of("a\n\"x\ny\" z\n").starts_with("a.csv:3: text follows the quote that ends a field"));
  EXPECT_TRUE(error_of(std::string("a,b\n1,\0002\n", 9)).starts_with("a.csv:2: a byte is zero"));
}

// The text of a field, in quotes where it needs them or, without need, by chance.
std::string written(const std::string& field, char delimiter, bool quotes_anyway) {
  const char special[] = {delimiter, '"', '\n', '\r'};
  if (!quotes_anyway && field.find_first_of(std::string_view(special, 4)) == std::string::npos)
    return field;
  std::string text = "\"";
  for (const char c : field) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + "\"";
}

// Whatever the fields hold, they come back.
TEST(DelimitedTextTest, ReadsWhatIsWritten) {
  const std::string letters = "ab ,\t\"\n\r;";
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    PhiloxStream random(seed, 0);
    const char delimiter = random.below(2) == 0 ? ',' : '\t';
    std::vector<Fields> rows(random.below(6));
    std::string text;
    for (Fields& row : rows) {
      row.resize(1 + random.below(4));
      for (std::string& field : row) {
        for (uint32_t length = random.below(6); length > 0; --length) {
          field += letters[random.below(static_cast<uint32_t>(letters.size()))];
        }
      }
      const bool is_lone_empty = row.size() == 1 && row[0].empty();
      for (size_t i = 0; i < row.size(); ++i) {
        if (i > 0) text += delimiter;
        text += written(row[i], delimiter, is_lone_empty || random.below(4) == 0);
      }
      text += random.below(2) == 0 ? "\n" : "\r\n";
    }
    ASSERT_EQ(rows_of(text, {.delimiter = delimiter}), rows) << seed << ": " << text;
  }
}

}  // namespace
}  // namespace cloze::formats
