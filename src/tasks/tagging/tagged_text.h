// Sentences of words with a tag for each, from a user's own file, plain or compressed (gzip,
// Zstandard), or from standard input ("-"). The form is found out by the content:
//
//   JSON     {"tokens": ["Anna", "runs"], "ner_tags": ["B-PER", "O"]}: an object on each line, or
//            an array of them. Tags are names, or numbers that `tag_names` may give names to
//   CoNLL-U  ten columns between tabs; words in the second, tags in the fourth (UPOS). Comments
//            (#), ranges of words (3-4) and empty nodes (5.1) are left out; a tag "_" is not known
//   columns  one word a line: CoNLL's form. Columns are separated by tabs if the first line has
//            one, otherwise by blanks; words in the first, tags in the last. Lines of -DOCSTART-
//            are left out
//
// An empty line ends a sentence. A single column, or objects without tags, are words without tags. In
// JSON null or -100 is a tag that is not known. Tags in IOB1 become IOB2 (tag_scheme.h).
//
// Errors: UserError for a column that is not there and for a file without words; DataError that names
// file and line for a line with another number of columns than the first, a word without a tag or a
// tag without a word, numbers of words that do not follow each other, JSON of another form, bytes that
// are not UTF-8.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace cloze::tasks {

// Where words and tags are: the number of a column, from 1, or the name of a member of JSON.
struct TaggedColumns {
  std::string word;                    // empty: as the form has it
  std::string tag;                     // likewise
  std::vector<std::string> tag_names;  // of the numbers 0, 1, ... that JSON has for tags
};

struct TaggedWords {
  std::vector<std::string> words;
  std::vector<std::string> tags;  // of each word; "": not known
  int64_t line = 0;  // where it begins, from 1; of a JSON array the number of the object
};

struct TaggedText {
  std::filesystem::path file;
  std::string form;       // "JSON", "CoNLL-U", "columns"
  TaggedColumns columns;  // those that were taken; no tag: the file has none
  std::vector<TaggedWords> sentences;
  std::map<std::string, int64_t> left_out;  // what: how many
  std::string scheme;                       // of its tags; empty: none
  int64_t from_iob1 = 0;                    // I that became B, because the file is in IOB1
  int64_t begins_with_inside = 0;           // entities that begin with I all the same

  bool has_tags() const { return !columns.tag.empty(); }
  int64_t num_words() const;
  int64_t num_unknown_tags() const;
  std::set<std::string> tags() const;  // that are known
};

TaggedText read_tagged_text(const std::filesystem::path& file, const TaggedColumns& columns);

// "train.conll: 3394 sentences of 62730 words (columns), words in column 1, tags in column 2 (IOB2)",
// with what was left out and what was changed.
std::string describe(const TaggedText& text);

}  // namespace cloze::tasks
