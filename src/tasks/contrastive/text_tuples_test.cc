#include "tasks/contrastive/text_tuples.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "platform/files/atomic_file.h"
#include "tasks/contrastive/vector_scores.h"

namespace cloze::tasks {
namespace {

TupleTable table_of(const std::string& text, const TupleOptions& options = {}) {
  const auto file = std::filesystem::path(testing::TempDir()) / "text_tuples_test.txt";
  platform::write_file_atomically(file, text);
  TupleTable table = read_text_tuples(file, options);
  table.file = "table";
  return table;
}

std::string refusal_of(const std::string& text, const TupleOptions& options = {}) {
  try {
    table_of(text, options);
  } catch (const std::exception& error) {
    const std::string message = error.what();
    const size_t file = message.find(".txt");
    return file == std::string::npos ? message : message.substr(file + 4);
  }
  return "";
}

TEST(TextTuples, ColumnsAreFoundByTheNamesThatPeopleUse) {
  EXPECT_EQ(describe(table_of("score,genre,sentence1,sentence2\n2.5,news,a cat,a dog\n5,x,a,b\n")),
            "table: 2 rows, texts in sentence1, sentence2, scores in score (divided by 5)");
  EXPECT_EQ(describe(table_of("Query\tAnswer\tlabel\nwho?\tAnna\t1\n")),
            "table: 1 rows, texts in Query, Answer, scores in label");
  EXPECT_EQ(describe(table_of("negative,anchor,positive\nc,a,b\n")),
            "table: 1 rows, texts in anchor, positive, negative");
  EXPECT_EQ(describe(table_of("left,right,worse\na,b,c\n")),
            "table: 1 rows, texts in left, right, worse");
  EXPECT_EQ(refusal_of("a,b,c,d\n1,2,3,4\n"),
            " has the columns a, b, c, d; name those of the texts, the anchor's first, with "
            "text_columns");
}

TEST(TextTuples, ColumnsMayBeNamed) {
  const std::string text = "d,c,b,a\n1,x,y,z\n";
  const TupleTable table = table_of(text, {.text_columns = {"a", "b"}, .score_column = "d"});
  EXPECT_EQ(table.rows[0].texts, (std::vector<std::string>{"z", "y"}));
  EXPECT_EQ(table.rows[0].score, 1.0);
  EXPECT_EQ(refusal_of(text, {.text_columns = {"a", "e"}}),
            " has no column e, which text_columns names; it has d, c, b, a");
  EXPECT_EQ(refusal_of(text, {.text_columns = {"a"}}),
            "text_columns is a; name two or more, with commas between them");
  EXPECT_EQ(describe(table_of(
                "sentence1,sentence2,score\na,b,1\n",
                {.text_columns = {"q", "p"}, .score_column = "s", .may_lack_columns = true})),
            "table: 1 rows, texts in sentence1, sentence2, scores in score");
  EXPECT_FALSE(
      table_of("sentence1,sentence2,score\na,b,1\n", {.takes_scores = false}).has_scores());
}

TEST(TextTuples, RowsOfAStepHaveAsManyTexts) {
  const TupleTable table = table_of(R"({"anchor": "a", "positive": "b", "negatives": ["c", "d"]})"
                                    "\n"
                                    R"({"anchor": "a", "positive": "b", "negatives": ["c"]})"
                                    "\n"
                                    R"({"anchor": "a", "positive": "b"})");
  EXPECT_EQ(
      describe(table),
      "table: 2 rows, texts in anchor, positive, negatives; left out: 1 that lack a text; 1 have "
      "more negatives than 1, the fewest of a row, and keep so many");
  EXPECT_EQ(table.texts_per_row(), 3u);
  EXPECT_EQ(refusal_of("anchor,positive\na,\n"), " holds no row with all its texts");
}

TEST(TextTuples, ScoresAreNumbers) {
  EXPECT_EQ(refusal_of("text1,text2,score\na,b,good\n"),
            ":2: 'good' in score; a score must be a number");
  EXPECT_EQ(table_of("text1,text2,score\na,b,10\nc,d,0\n").rows[0].score, 10.0);
  EXPECT_EQ(table_of("text1,text2,score\na,b,4\nc,d,0\n").rows[0].score, 0.8);
  EXPECT_EQ(table_of("text1,text2,score\na,b,0.4\nc,d,-1\n").rows[1].score, -1.0);
}

// Two queries, a with one relevant text and b with two; the collection is x, y, z, w.
TEST(VectorScores, RetrievalCountsWhereTheRelevantTextsStand) {
  const std::vector<TextTuple> rows = {{.texts = {"a", "x"}},
                                       {.texts = {"b", "y"}},
                                       {.texts = {"b", "z", "w"}},
                                       {.texts = {"b", "y"}}};
  const DistinctTexts distinct = distinct_texts(rows);
  EXPECT_EQ(distinct.texts, (std::vector<std::string>{"a", "x", "b", "y", "z", "w"}));
  // For a: w 0.9, x 0.8, y = z = 0. For b: z 0.6, w 0.4, x 0.3, y 0.
  const UnitVectors vectors = {{1, 0}, {0.8f, 0.3f}, {0, 1}, {0, 0}, {0, 0.6f}, {0.9f, 0.4f}};
  const VectorScores scored = retrieval_scores(distinct, vectors);
  EXPECT_EQ(scored.rows[0].rank, 2);
  EXPECT_EQ(scored.rows[1].rank, 4);
  EXPECT_EQ(scored.rows[2].rank, 1);
  EXPECT_FLOAT_EQ(static_cast<float>(scored.rows[0].cosine), 0.8f);
  const auto value = [&](const char* name) { return scored.scores.all.at(name).get<double>(); };
  const double second = 1.0 / std::log2(3.0), fourth = 1.0 / std::log2(5.0);
  EXPECT_NEAR(value("ndcg@10"), (second + (1.0 + fourth) / (1.0 + second)) / 2.0, 1e-12);
  EXPECT_NEAR(value("mrr@10"), (0.5 + 1.0) / 2.0, 1e-12);
  EXPECT_NEAR(value("recall@1"), (0.0 + 0.5) / 2.0, 1e-12);
  EXPECT_NEAR(value("recall@5"), 1.0, 1e-12);
  EXPECT_EQ(scored.scores.printed.front().first, "ndcg@10");
}

TEST(VectorScores, SimilarityIsThatOfCosines) {
  const std::vector<TextTuple> rows = {{.texts = {"a", "b"}, .score = 0.1},
                                       {.texts = {"a", "c"}, .score = 0.7},
                                       {.texts = {"b", "c"}, .score = 0.6}};
  const DistinctTexts distinct = distinct_texts(rows);
  const VectorScores scored =
      similarity_scores(rows, distinct, {{1, 0}, {0.25f, 0}, {0.75f, 0.5f}});
  EXPECT_NEAR(scored.rows[2].cosine, 0.1875, 1e-12);
  EXPECT_EQ(scored.scores.printed.front().first, "spearman");
  EXPECT_NEAR(scored.scores.printed.front().second, 0.5, 1e-12);
}

}  // namespace
}  // namespace cloze::tasks
