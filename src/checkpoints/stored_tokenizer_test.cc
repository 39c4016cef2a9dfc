#include "checkpoints/stored_tokenizer.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "checkpoints/hugging_face_tokenizer.h"
#include "platform/files/atomic_file.h"

namespace cloze::checkpoints {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kTokens = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "A"};

class StoredTokenizerTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void write(const std::string& name, const std::string& text) const {
    platform::write_file_atomically(folder_ / name, text);
  }
  void write_json(const text::TokenizerOptions& options) const {
    const auto vocabulary = text::Vocabulary::from_tokens(kTokens);
    write("tokenizer.json", tokenizer_json_text({.vocabulary = vocabulary, .options = options}));
  }
  void write_lines(const std::vector<std::string>& tokens) const {
    write("vocab.txt", fmt::format("{}\n", fmt::join(tokens, "\n")));
  }
  std::string refusal() const {
    try {
      read_tokenizer(folder_);
    } catch (const UserError& error) {
      return error.what();
    }
    return "accepted";
  }

  fs::path folder_ = fs::path(testing::TempDir()) / "stored_tokenizer";
};

TEST_F(StoredTokenizerTest, AFolderOfTransformersFiveIsRead) {
  write_json({.lower_case = true, .tokenize_chinese_chars = false});
  const StoredTokenizer tokenizer = read_tokenizer(folder_);
  EXPECT_EQ(tokenizer.vocabulary.tokens(), kTokens);
  EXPECT_EQ(tokenizer.options, text::TokenizerOptions({.tokenize_chinese_chars = false}))
      << "though the vocabulary has a capital";
  EXPECT_EQ(tokenizer.vocabulary_file, folder_ / "tokenizer.json");
  EXPECT_TRUE(tokenizer.notes.empty());
}

TEST_F(StoredTokenizerTest, AFolderOfLinesIsReadAsBefore) {
  write_lines(kTokens);
  const StoredTokenizer tokenizer = read_tokenizer(folder_);
  EXPECT_EQ(tokenizer.vocabulary.tokens(), kTokens);
  EXPECT_FALSE(tokenizer.options.lower_case);
  EXPECT_EQ(tokenizer.vocabulary_file, folder_ / "vocab.txt");
}

TEST_F(StoredTokenizerTest, TheConfigurationGoesFirstUnlessItsClassLeavesAllToTheJson) {
  write_json({.lower_case = false});
  write("tokenizer_config.json", R"({"tokenizer_class": "BertTokenizer", "do_lower_case": true})");
  const StoredTokenizer berts = read_tokenizer(folder_);
  EXPECT_TRUE(berts.options.lower_case);
  EXPECT_EQ(berts.notes,
            std::vector<std::string>{
                folder_.string() +
                ": tokenizer_config.json says lowercase true, strip_accents true, "
                "handle_chinese_chars true, tokenizer.json says lowercase false, strip_accents "
                "false, handle_chinese_chars true; tokenizer_config.json takes precedence, as in "
                "transformers"});
  write("tokenizer_config.json",
        R"({"tokenizer_class": "TokenizersBackend", "do_lower_case": true})");
  const StoredTokenizer generic = read_tokenizer(folder_);
  EXPECT_FALSE(generic.options.lower_case);
  EXPECT_TRUE(generic.notes.empty());
}

TEST_F(StoredTokenizerTest, TwoFilesMustHaveTheSameTokens) {
  write_json({});
  write_lines(kTokens);
  EXPECT_EQ(refusal(), "accepted");
  write_lines({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "B"});
  EXPECT_EQ(refusal(), folder_.string() +
                           ": token 6 is 'B' in vocab.txt, but 'A' in tokenizer.json; remove the "
                           "file that is wrong");
}

TEST_F(StoredTokenizerTest, ANamedVocabularyGoesBeforeTheFolders) {
  write_json({.lower_case = false});
  const fs::path other = folder_ / "other.txt";
  write("other.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nb\n");
  const StoredTokenizer tokenizer = read_tokenizer(folder_, other);
  EXPECT_EQ(tokenizer.vocabulary.token(5), "b");
  EXPECT_FALSE(tokenizer.options.lower_case);
  EXPECT_EQ(read_tokenizer({}, folder_ / "tokenizer.json").vocabulary.tokens(), kTokens);
}

TEST_F(StoredTokenizerTest, AFolderWithoutEitherIsRefused) {
  EXPECT_FALSE(vocabulary_file_in(folder_));
  EXPECT_EQ(refusal(), folder_.string() +
                           " has neither vocab.txt nor tokenizer.json; give a folder with a "
                           "tokenizer");
}

TEST_F(StoredTokenizerTest, EitherFileIsAVocabulary) {
  write_json({});
  write_lines(kTokens);
  EXPECT_EQ(load_vocabulary(folder_ / "tokenizer.json").tokens(), kTokens);
  EXPECT_EQ(load_vocabulary(folder_ / "vocab.txt").tokens(), kTokens);
}

TEST_F(StoredTokenizerTest, AVocabularyFileSaysItsRules) {
  write_lines(kTokens);
  write_json({.strip_accents = false});
  const StoredTokenizer json = read_tokenizer("", folder_ / "tokenizer.json");
  EXPECT_EQ(json.vocabulary.tokens(), kTokens);
  EXPECT_EQ(json.options, text::TokenizerOptions({.strip_accents = false}));
  write("tokenizer_config.json", R"({"do_lower_case": true, "tokenize_chinese_chars": false})");
  EXPECT_EQ(read_tokenizer("", folder_ / "vocab.txt").options,
            text::TokenizerOptions({.strip_accents = false, .tokenize_chinese_chars = false}))
      << "as the folder says";
  EXPECT_EQ(read_tokenizer(folder_).options, read_tokenizer("", folder_ / "vocab.txt").options);
}

// A model's folder without rules, as Google's: those beside the vocabulary hold.
TEST_F(StoredTokenizerTest, RulesBesideAVocabularyHoldWhereTheModelHasNone) {
  const fs::path model = folder_ / "model";
  fs::create_directories(model);
  write_lines(kTokens);
  write("tokenizer_config.json", R"({"do_lower_case": true, "strip_accents": false})");
  const text::TokenizerOptions beside{.strip_accents = false};
  EXPECT_EQ(read_tokenizer(model, folder_ / "vocab.txt").options, beside);
  platform::write_file_atomically(model / "tokenizer_config.json", R"({"do_lower_case": false})");
  EXPECT_EQ(read_tokenizer(model, folder_ / "vocab.txt").options,
            text::TokenizerOptions({.lower_case = false}));
}

TEST_F(StoredTokenizerTest, TheModelsRulesHoldForATokenizerFromElsewhere) {
  const fs::path model = folder_ / "model";
  fs::create_directories(model);
  write_json({.lower_case = true, .strip_accents = false});
  platform::write_file_atomically(
      model / "tokenizer.json",
      tokenizer_json_text({.vocabulary = text::Vocabulary::from_tokens(kTokens),
                           .options = {.lower_case = false}}));
  EXPECT_FALSE(read_tokenizer(model, folder_ / "tokenizer.json").options.lower_case);
  EXPECT_THROW(read_tokenizer("", folder_ / "absent.json"), UserError);
  EXPECT_THROW(read_tokenizer("", folder_ / "absent.txt"), UserError);
}

TEST_F(StoredTokenizerTest, ANameWithoutAFolderIsInThisOne) {
  write_lines(kTokens);
  write("tokenizer_config.json", R"({"do_lower_case": true, "strip_accents": false})");
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  const text::TokenizerOptions options = read_tokenizer("", "vocab.txt").options;
  fs::current_path(before);
  EXPECT_EQ(options, text::TokenizerOptions({.strip_accents = false}));
}

TEST_F(StoredTokenizerTest, AVocabularyFileWithoutRulesGoesByItsTokens) {
  write_lines({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a"});
  EXPECT_TRUE(read_tokenizer("", folder_ / "vocab.txt").options.lower_case);
  write_lines(kTokens);
  EXPECT_FALSE(read_tokenizer("", folder_ / "vocab.txt").options.lower_case);
  write("tokenizer_config.json", R"({"do_lower_case": true})");
  EXPECT_TRUE(read_tokenizer("", folder_ / "vocab.txt").options.lower_case);
}

// Vocabularies of scripts without capitals.
TEST_F(StoredTokenizerTest, MarksInTokensKeepAccentsUnlessAFileSpeaks) {
  write_lines({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "हिन्दी"});
  const text::TokenizerOptions keeps{.strip_accents = false};
  EXPECT_EQ(read_tokenizer("", folder_ / "vocab.txt").options, keeps);
  write("tokenizer_config.json", R"({"model_max_length": 512})");
  EXPECT_EQ(read_tokenizer("", folder_ / "vocab.txt").options, keeps);
  write("tokenizer_config.json", R"({"do_lower_case": true, "strip_accents": null})");
  EXPECT_EQ(read_tokenizer("", folder_ / "vocab.txt").options, text::TokenizerOptions{})
      << "as transformers reads it";
  write("tokenizer_config.json", R"({"do_lower_case": false})");
  EXPECT_EQ(read_tokenizer("", folder_ / "vocab.txt").options,
            text::TokenizerOptions({.lower_case = false}));
}

// Several vocabularies in a folder, each with rules of its own.
TEST_F(StoredTokenizerTest, RulesMayBearTheNameOfTheVocabulary) {
  EXPECT_EQ(rules_file_of("a/vocab.txt"), "a/tokenizer_config.json");
  EXPECT_EQ(rules_file_of("a/hindi.txt"), "a/hindi.tokenizer_config.json");
  EXPECT_EQ(rules_file_of("hindi.txt"), "hindi.tokenizer_config.json");
  write_lines(kTokens);
  fs::copy_file(folder_ / "vocab.txt", folder_ / "own.txt");
  fs::copy_file(folder_ / "vocab.txt", folder_ / "other.txt");
  write("tokenizer_config.json", R"({"do_lower_case": true})");
  write("own.tokenizer_config.json", R"({"do_lower_case": false, "strip_accents": true})");
  EXPECT_EQ(read_tokenizer("", folder_ / "own.txt").options,
            text::TokenizerOptions({.lower_case = false, .strip_accents = true}));
  EXPECT_EQ(read_tokenizer("", folder_ / "vocab.txt").options, text::TokenizerOptions{});
  EXPECT_EQ(read_tokenizer("", folder_ / "other.txt").options, text::TokenizerOptions{})
      << "the folder's";
  write_json({.tokenize_chinese_chars = false});
  EXPECT_TRUE(read_tokenizer("", folder_ / "own.txt").options.tokenize_chinese_chars);
}

TEST_F(StoredTokenizerTest, OptionsBeatFilesAndFilesBeatGuesses) {
  write_lines({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a"});
  const auto taken = [&](const text::StatedRules& options) {
    StoredTokenizer tokenizer = read_tokenizer("", folder_ / "vocab.txt");
    take_rules(options, tokenizer);
    return tokenizer;
  };
  using Options = text::TokenizerOptions;
  EXPECT_EQ(taken({.lower_case = false}).options, Options({.lower_case = false}));
  EXPECT_TRUE(taken({.lower_case = false}).notes.empty()) << "a guess is no statement";
  write("tokenizer_config.json", R"({"do_lower_case": false, "strip_accents": true})");
  EXPECT_EQ(taken({}).options, Options({.lower_case = false, .strip_accents = true}));
  const StoredTokenizer asked = taken({.lower_case = true, .strip_accents = false});
  EXPECT_EQ(asked.options, Options({.lower_case = true, .strip_accents = false}));
  const std::string file = (folder_ / "vocab.txt").string();
  EXPECT_EQ(asked.notes,
            (std::vector{file + " comes with do_lower_case false, but true is used, as asked",
                         file + " comes with strip_accents true, but false is used, as asked"}));
  EXPECT_TRUE(taken({.lower_case = false, .strip_accents = true}).notes.empty());
}

TEST_F(StoredTokenizerTest, LowerCasingIsRefusedWhereTokensHaveCapitals) {
  write_lines(kTokens);
  const auto refusal = [&] {
    StoredTokenizer tokenizer = read_tokenizer("", folder_ / "vocab.txt");
    try {
      take_rules({.lower_case = true}, tokenizer);
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  const std::string expected = "do_lower_case is true, but " + (folder_ / "vocab.txt").string() +
                               " has capital letters; set it to false";
  EXPECT_EQ(refusal(), expected);
  write("tokenizer_config.json", R"({"do_lower_case": false})");
  EXPECT_EQ(refusal(), expected);
  write("tokenizer_config.json", R"({"do_lower_case": true})");
  EXPECT_EQ(refusal(), "accepted") << "the file says so";
}

}  // namespace
}  // namespace cloze::checkpoints
