#include "tasks/tagging/tagged_text.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "platform/files/own_folder_test.h"

namespace cloze::tasks {
namespace {

class TaggedTextTest : public platform::OwnFolderTest {
 protected:
  TaggedText read(const std::string& bytes, const TaggedColumns& columns = {}) {
    std::ofstream(folder_ / "t", std::ios::binary) << bytes;
    return read_tagged_text(folder_ / "t", columns);
  }
  std::string without_path(std::string text) const {
    const std::string path = (folder_ / "t").string();
    for (size_t at; (at = text.find(path)) != std::string::npos;)
      text.replace(at, path.size(), "t");
    return text;
  }
  // "LINE: WORD/TAG WORD/TAG | LINE: ..." of the sentences; or the message of an error.
  std::string said(const std::string& bytes, const TaggedColumns& columns = {}) {
    try {
      std::string all;
      for (const TaggedWords& sentence : read(bytes, columns).sentences) {
        if (!all.empty()) all += " | ";
        all += std::to_string(sentence.line) + ":";
        for (size_t i = 0; i < sentence.words.size(); ++i) {
          all += " " + sentence.words[i] + "/" + sentence.tags[i];
        }
      }
      return all;
    } catch (const UserError& error) {
      return without_path(error.what());
    }
  }
  std::string described(const std::string& bytes, const TaggedColumns& columns = {}) {
    return without_path(describe(read(bytes, columns)));
  }
};

// A line of CoNLL-U.
std::string universal(const std::string& id, const std::string& word, const std::string& tag) {
  return id + "\t" + word + "\t_\t" + tag + "\tXP\t_\t_\t_\t_\t_\n";
}

TEST_F(TaggedTextTest, ReadsColumns) {
  EXPECT_EQ(said("Anna\tB-PER\nruns\tO\n\nUlm\tB-LOC\n"), "1: Anna/B-PER runs/O | 4: Ulm/B-LOC");
  EXPECT_EQ(said("Anna NNP I-NP B-PER\r\nruns VBZ I-VP O\r\n\r\n"), "1: Anna/B-PER runs/O");
  EXPECT_EQ(said("Anna  NNP  B-PER\n \t \n\n\nruns VBZ O"), "1: Anna/B-PER | 5: runs/O");
  EXPECT_EQ(said("\xEF\xBB\xBFNew York\tB-LOC\n#5\tO\n"), "1: New York/B-LOC #5/O");
  EXPECT_EQ(said("[\tO\n{\tO\n"), "1: [/O {/O");
  EXPECT_EQ(said("1 Anna PER O\n", {.word = "2", .tag = "3"}), "1: Anna/PER");
  EXPECT_EQ(said("Anna\nruns\n\nUlm\n"), "1: Anna/ runs/ | 4: Ulm/");
  EXPECT_EQ(
      described("-DOCSTART- -X- O O\n\nAnna NNP I-NP B-PER\n\n-DOCSTART- -X- O O\n\nis V I-VP O\n"),
      "t: 2 sentences of 2 words (columns), words in column 1, tags in column 4 (IOB2); left "
      "out: 2 -DOCSTART- lines");
  EXPECT_EQ(described("# id 1 domain=en\nAnna _ _ B-PER\n"),
            "t: 1 sentences of 1 words (columns), words in column 1, tags in column 4 (IOB2); left "
            "out: 1 comments");
  EXPECT_EQ(described("Anna\n"),
            "t: 1 sentences of 1 words (columns), words in column 1, without tags");
}

TEST_F(TaggedTextTest, ReadsConllU) {
  const std::string text = "# text = vámonos al mar\n" + universal("1-2", "vámonos", "_") +
                           universal("1", "vamos", "VERB") + universal("2", "nos", "PRON") +
                           universal("2.1", "x", "X") + "\n# newpar\n" + universal("1", "mar", "_");
  EXPECT_EQ(said(text), "3: vamos/VERB nos/PRON | 8: mar/");
  EXPECT_EQ(said(text, {.tag = "5"}), "3: vamos/XP nos/XP | 8: mar/XP");
  EXPECT_EQ(described(text),
            "t: 2 sentences of 3 words (CoNLL-U), words in column 2, tags in column 4; left out: 1 "
            "empty nodes; left out: 1 ranges of words; 1 words have no tag");
  EXPECT_FALSE(read(universal("1", "mar", "_")).has_tags());
}

TEST_F(TaggedTextTest, ReadsJson) {
  const std::string two =
      "{\"tokens\": [\"Anna\", \"runs\"], \"ner_tags\": [\"B-PER\", \"O\"]}\n\n"
      "{\"id\": 1, \"tokens\": [\"Ulm\"], \"ner_tags\": [null]}\n";
  EXPECT_EQ(said(two), "1: Anna/B-PER runs/O | 3: Ulm/");
  EXPECT_EQ(described(two),
            "t: 2 sentences of 3 words (JSON), words in tokens, tags in ner_tags (IOB2); 1 words "
            "have no tag");
  EXPECT_EQ(said("[{\"words\": [\"a\"], \"tags\": [3]}, {\"words\": [\"b\"], \"tags\": [-100]}]"),
            "1: a/3 | 2: b/");
  EXPECT_EQ(said("{\"tokens\": [\"a\", \"b\"], \"labels\": [1, 0]}", {.tag_names = {"O", "B-X"}}),
            "1: a/B-X b/O");
  EXPECT_EQ(said("{\"tokens\": [\"a\"], \"tags\": [\"x\"], \"t\": [\"y\"]}", {.tag = "t"}),
            "1: a/y");
  EXPECT_EQ(said("{\"tokens\": [\"a\"]}\n{\"tokens\": [\"b\"]}"), "1: a/ | 2: b/");
  EXPECT_EQ(
      described("{\"tokens\": [\"a\"], \"tags\": [\"x\"]}\n{\"tokens\": [], \"tags\": []}"),
      "t: 1 sentences of 1 words (JSON), words in tokens, tags in tags; left out: 1 sentences "
      "without words");
}

TEST_F(TaggedTextTest, TurnsIob1IntoIob2) {
  const std::string text = "a I-X\nb I-X\nc B-X\nd O\n\ne I-Y\n";
  EXPECT_EQ(said(text), "1: a/B-X b/I-X c/B-X d/O | 6: e/B-Y");
  EXPECT_TRUE(described(text).ends_with(
      "(IOB2); read from IOB1: 2 tags that began an entity with I became B"));
  EXPECT_EQ(said("a B-X\n\nb I-X\n"), "1: a/B-X | 3: b/I-X");
  EXPECT_TRUE(
      described("a B-X\n\nb I-X\n").ends_with("(IOB2); 1 entities begin with I instead of B"));
  EXPECT_EQ(said("a S-X\nb B-X\nc E-X\n"), "1: a/S-X b/B-X c/E-X");
}

struct Malformed {
  std::string bytes;
  std::string message;
  TaggedColumns columns = {};
};

TEST_F(TaggedTextTest, MalformedColumnsAreNamedWithTheirLine) {
  const std::string two = "a\tO\nb\tO\n";
  const Malformed cases[] = {
      {"", "t holds no words"},
      {"\n \n\t\n", "t holds no words"},
      {"-DOCSTART- O\n", "t holds no words"},
      {two + "c\n",
       "t:3: 1 columns instead of the 2 of line 1; separate columns by one tab, and sentences by "
       "an "
       "empty line"},
      {two + "c O\n",
       "t:3: 1 columns instead of the 2 of line 1; separate columns by one tab, and sentences by "
       "an "
       "empty line"},
      {two + "c\tO\tO\n",
       "t:3: 3 columns instead of the 2 of line 1; separate columns by one tab, and sentences by "
       "an "
       "empty line"},
      {"\na O\nNew York O\n",
       "t:3: 3 columns instead of the 2 of line 2; separate columns by blanks, and sentences by an "
       "empty line"},
      {two + "\tO\n", "t:3: has a tag, but no word; delete the line, or add the word"},
      {"a\tO\tO\nb\t\tO\n", "t:2: `b` has no tag; add it, such as O", {.tag = "2"}},
      {two + "c\xFF\tO\n", "t:3: is not UTF-8; convert the file"},
      {std::string("a\0 \0O\0\n\0", 8),
       "t:1: a byte is zero; is this a text in UTF-16, or no text? Convert it to UTF-8"},
      {"a\tO\rb\tO\r", "t:1: a carriage return is inside; end lines with a line feed"},
      {two, "tag_column is 3, but t has columns 1 to 2", {.tag = "3"}},
      {two, "word_column is tokens, but t has columns 1 to 2", {.word = "tokens"}},
      {two, "tag_column is 0, but t has columns 1 to 2", {.tag = "0"}},
      {two,
       "t: words and tags would both be column 1; name two with word_column and tag_column",
       {.tag = "1"}},
      {two,
       "tag_names gives names to the numbers of JSON, but t is no JSON; leave it out",
       {.tag_names = {"O"}}},
      {universal("1", "a", "X") + "2\tb\n",
       "t:2: 2 columns instead of CoNLL-U's 10; separate them by one tab, and sentences by an "
       "empty "
       "line"},
      {"# sent_id = 1\n1 a _ X _ _ _ _ _ _\n",
       "t:2: 1 columns instead of CoNLL-U's 10; separate them by one tab, and sentences by an "
       "empty "
       "line"},
      {universal("1", "a", "X") + universal("3", "b", "X"),
       "t:2: word 3 stands where 2 should; is a line missing, or an empty line between sentences?"},
      {universal("1", "a", "X") + universal("1", "b", "X"),
       "t:2: word 1 stands where 2 should; is a line missing, or an empty line between sentences?"},
      {universal("1", "a", "X") + universal("x", "b", "X"), "t:2: `x` is not the number of a word"},
      {universal("1", "a", "X") + universal("2", "", "X"), "t:2: has no word"},
  };
  for (const Malformed& one : cases)
    EXPECT_EQ(said(one.bytes, one.columns), one.message) << one.bytes;
  EXPECT_TRUE(said("\x1F\x8B\x08").starts_with("t"));
}

TEST_F(TaggedTextTest, MalformedJsonIsNamedWithItsLine) {
  const Malformed cases[] = {
      {"{\"tokens\": [\"a\"], \"tags\": [\"O\"]}\n7\n", "t:2: is no JSON object"},
      {"{\"tokens\": [\"a\"], \"tags\": [\"O\", \"O\"]}\n",
       "t:1: 2 tags for 1 tokens; give each word one"},
      {"{\"tokens\": \"a b\", \"tags\": [\"O\"]}\n",
       "t:1: tokens is string; it must be a list, with one entry for each word"},
      {"{\"tokens\": [1], \"tags\": [\"O\"]}\n",
       "t:1: a word in tokens is 1; it must be a text in quotes"},
      {"{\"tokens\": [\"a\"], \"tags\": [1.5]}\n",
       "t:1: a tag in tags is 1.5; it must be a name in quotes, or a number from 0"},
      {"{\"tokens\": [\"a\"], \"tags\": [-2]}\n",
       "t:1: a tag in tags is -2; it must be a name in quotes, or a number from 0"},
      {"{\"tokens\": [\"a\"], \"tags\": [\"\"]}\n",
       "t:1: a tag in tags is empty; write O, or null"},
      {"{\"tokens\": [\"a\", \"b\"], \"tags\": [\"O\", 1]}\n",
       "t:1: the tag 1 in tags, but others are names; make all of them names"},
      {"{\"tokens\": [\"a\"], \"tags\": [0]}\n{\"tokens\": [\"a\"], \"tags\": [\"O\"]}\n",
       "t:2: the tag \"O\" in tags, but others are numbers; make all of them names"},
      {"{\"tokens\": [\"a\"], \"tags\": [2]}\n",
       "t:1: the tag 2 in tags, but tag_names has names for 0 to 1",
       {.tag_names = {"O", "X"}}},
      {"{\"tokens\": [\"a\"], \"tags\": [\"X\"]}\n",
       "tag_names gives names to numbers, but t has the tag X; leave it out",
       {.tag_names = {"O"}}},
      {"{\"tokens\": [\"a\"], \"tags\": [\"O\"]}\n{\"tokens\": [\"b\"]}\n",
       "t:2: has no tags, unlike the first object; add it, as a list"},
      {"{\"tokens\": [\"a\"]}\n{\"tokens\": [\"b\"], \"tags\": [\"O\"]}\n",
       "t:2: has tags, but the first object has no tags; give all of them tags, or none"},
      {"{\"text\": \"a\", \"tags\": [\"O\"]}\n",
       "t has text, tags, but no tokens or words; name that of the words with word_column"},
      {"{\"tokens\": [\"a\"]}\n",
       "t has no ner, which tag_column names; it has tokens",
       {.tag = "ner"}},
      {"{\"tokens\": [\"a\"]}\n",
       "t: words and tags would both be tokens; name two",
       {.tag = "tokens"}},
      {"[]", "t holds no words"},
  };
  for (const Malformed& one : cases)
    EXPECT_EQ(said(one.bytes, one.columns), one.message) << one.bytes;
  EXPECT_TRUE(said("[{\"tokens\": [\"a\"]").starts_with("t:1:"));
  EXPECT_TRUE(said("{\"tokens\": [\"a\"]}\n{\"tokens\": [").starts_with("t:2: "));
  EXPECT_TRUE(said("{\"tokens\": [\"\xFF\"]}").starts_with("t:1: "));
}

// Whatever is cut off or flipped, the file is read or refused.
TEST_F(TaggedTextTest, DamagedFilesAreReadOrRefused) {
  const std::string texts[] = {"-DOCSTART- O\n\nAnna B-PER\nruns O\n\nUlm B-LOC\n",
                               "# text = a\n" + universal("1-2", "ab", "_") +
                                   universal("1", "a", "X") + universal("2", "b", "Y"),
                               "{\"tokens\": [\"a\", \"b\"], \"ner_tags\": [\"O\", "
                               "null]}\n{\"tokens\": [\"c\"], \"ner_tags\": [\"O\"]}\n"};
  for (const std::string& text : texts) {
    for (size_t at = 0; at < text.size(); ++at) {
      EXPECT_NE(said(text.substr(0, at)), "") << at;
      for (const char bit : {1, 8, 64}) {
        std::string flipped = text;
        flipped[at] = static_cast<char>(flipped[at] ^ bit);
        EXPECT_NE(said(flipped), "") << at;
      }
    }
  }
}

}  // namespace
}  // namespace cloze::tasks
