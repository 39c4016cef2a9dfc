// A user's own table of texts and labels, in any form (table_rows.h).
//
// Columns have names. Those that are not given are found by the names that people use, in any case:
// text, sentence, sentence1, ..., then label, labels, class, ....
//
// Rows without a text or without a label are counted and left out.
//
// Where rows have several labels, these are a list of JSON, or a field with a separator between them,
// "sport|money"; or each label is a column of its own that holds 1 or 0 (true or false), when
// label_column names several columns with commas between them. A row without a label is one for which
// none holds. It is kept, and counted.
//
// Where rows have choices, these are a list of JSON ("choices", "endings", "options"), or columns of
// their own (choice0, choice1, ...; choice_column names others with commas between them). Rows with
// fewer than two that are not empty are counted and left out.
//
// Errors: UserError for a column that is not there or cannot be guessed; DataError that names file
// and line for another value in the column of one label; those of table_rows.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace cloze::tasks {

struct TableOptions {
  std::string text_column;            // empty: guessed
  std::string pair_column;            // empty: guessed by the names of pairs; none if none has one
  std::string label_column;           // empty: guessed
  bool quotes = true;                 // whether double quotes enclose fields
  bool has_label_sets = false;        // rows have several labels, or none
  std::string label_separator = "|";  // between them
  bool has_choices = false;           // rows have several texts to choose from
  std::string choice_column;          // empty: guessed
};

struct LabelledText {
  std::string text;
  std::string pair;                  // empty: a single text
  std::vector<std::string> choices;  // none, unless rows have them
  std::vector<std::string> labels;   // one, unless rows have several
  int64_t line = 0;  // where the row begins, from 1; of a JSON array the number of the object
};

struct LabelledTable {
  std::filesystem::path file;
  TableOptions columns;  // those that were taken
  std::vector<LabelledText> rows;
  int64_t without_text = 0, without_choices = 0;
  int64_t without_label = 0;  // left out, unless rows have several

  bool is_pair() const { return !columns.pair_column.empty(); }
};

LabelledTable read_labelled_table(const std::filesystem::path& file, const TableOptions& options);

// "data.csv: 1203 rows, texts in review, labels in stars; left out: 2 without text, 1 without label",
// and where rows have several labels "; 10 have no label".
std::string describe(const LabelledTable& table);

}  // namespace cloze::tasks
