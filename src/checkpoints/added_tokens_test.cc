#include "checkpoints/added_tokens.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "checkpoints/stored_tokenizer.h"
#include "platform/files/atomic_file.h"
#include "platform/files/own_folder_test.h"

namespace cloze::checkpoints {
namespace {

class AddedTokensTest : public platform::OwnFolderTest {
 protected:
  void write(const char* name, const std::string& text) const {
    platform::write_file_atomically(folder_ / name, text);
  }
};

TEST_F(AddedTokensTest, AreReadFromBothFiles) {
  EXPECT_TRUE(added_tokens_in(folder_, 0).empty());
  write("added_tokens.json", R"({"<a>": 5, "<b>": 6, "[PAD]": 0})");
  write("tokenizer_config.json",
        R"({"added_tokens_decoder": {"0": {"content": "[PAD]"}, "6": {"content": "<b>"},
                                     "7": {"content": "\n"}}})");
  EXPECT_EQ(added_tokens_in(folder_, 5),
            (std::map<int64_t, std::string>{{5, "\"<a>\""}, {6, "\"<b>\""}, {7, "\"\\n\""}}));
  write("added_tokens.json", "[]");
  EXPECT_THROW(added_tokens_in(folder_, 5), UserError);
}

TEST_F(AddedTokensTest, AreNotedBesideAVocabularyOfLines) {
  write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n");
  write("added_tokens.json", R"({"<a>": 5})");
  const StoredTokenizer tokenizer = read_tokenizer(folder_);
  EXPECT_EQ(tokenizer.num_added, 1);
  EXPECT_EQ(tokenizer.notes,
            std::vector<std::string>{folder_.string() +
                                     ": added token \"<a>\" (id 5) is cut like any other text"});
}

}  // namespace
}  // namespace cloze::checkpoints
