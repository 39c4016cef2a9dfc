// A user's own table of texts that belong together, in any form (tasks/labelled/table_rows.h): a row is
// an anchor, a text that is like it (its positive), and any number of texts that are not (negatives);
// or a pair of texts with a score that says how alike they are.
//
// Columns that are not given are found by the names that people use, in any case: anchor and positive,
// query and answer, sentence1 and sentence2, ...; negative, negative_1, ... or a list of JSON; score,
// similarity, label. A table of just two or three columns of texts may call them as it likes: they are
// taken in their order.
//
// Scores from 0 to 1 are taken as they are; where one is above 1 and none above 5, as in STS, all are
// divided by 5. Others keep their order, and can be learned by a loss that needs no more (cosent).
//
// Rows that lack a text or a score are counted and left out. All keep as many negatives as the row
// with the fewest has, because the samples of a step have as many texts each.
//
// Errors: UserError for columns that are not there or cannot be guessed, and for a table in which no
// row is complete. A score that is no number is a DataError that names file and line. Others are those
// of table_rows.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace cloze::tasks {

struct TupleOptions {
  std::vector<std::string>
      text_columns;               // of the anchor, the positive and negatives: none: guessed
  std::string score_column;       // empty: guessed
  bool takes_scores = true;       // false: a column of scores is left alone
  bool may_lack_columns = false;  // those named here: then they are guessed
  bool quotes = true;             // whether double quotes enclose fields
};

struct TextTuple {
  std::vector<std::string> texts;  // two or more: anchor, positive, negatives
  double score = 0.0;              // where the table has scores
  int64_t line = 0;                // where the row begins, from 1
};

struct TupleTable {
  std::filesystem::path file;
  std::vector<std::string> text_columns;
  std::string score_column;     // empty: it has no scores
  double score_divisor = 1.0;   // that made scores those of `rows`
  std::vector<TextTuple> rows;  // all with as many texts
  int64_t incomplete = 0;       // rows left out
  int64_t shortened = 0;        // rows that had more negatives

  bool has_scores() const { return !score_column.empty(); }
  size_t texts_per_row() const { return rows.front().texts.size(); }
};

TupleTable read_text_tuples(const std::filesystem::path& file, const TupleOptions& options);

// "pairs.tsv: 5749 rows, texts in sentence1 and sentence2, scores in score (divided by 5)".
std::string describe(const TupleTable& table);

}  // namespace cloze::tasks
