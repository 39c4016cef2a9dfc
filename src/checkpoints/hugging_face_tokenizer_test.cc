#include "checkpoints/hugging_face_tokenizer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "formats/json.h"
#include "platform/files/atomic_file.h"
#include "text/vocabulary.h"

namespace cloze::checkpoints {
namespace {

const std::vector<std::string> kTokens = {"[PAD]",  "[UNK]", "[CLS]",       "[SEP]",
                                          "[MASK]", "\"",    "caf\xc3\xa9", "##s"};

const text::Vocabulary kVocabulary = text::Vocabulary::from_tokens(kTokens);

TEST(HuggingFaceTokenizer, DescribesBertsTokenizer) {
  const auto text = formats::parse_json(tokenizer_json_text({.vocabulary = kVocabulary}));
  ASSERT_TRUE(text);
  EXPECT_EQ(text->at("normalizer").at("lowercase"), true);
  EXPECT_EQ(text->at("model").at("vocab").size(), kTokens.size());
  EXPECT_EQ(text->at("model").at("vocab").at("caf\xc3\xa9"), 6);
  EXPECT_EQ(text->at("added_tokens").size(), 5u);
  const auto& processor = text->at("post_processor");
  EXPECT_EQ(processor.at("special_tokens").at("[SEP]").at("ids").at(0), 3);
  EXPECT_EQ(processor.at("pair").at(3).at("Sequence").at("type_id"), 1);
}

TEST(HuggingFaceTokenizer, CasedModelsKeepCase) {
  const TokenizerDescription cased{
      .vocabulary = kVocabulary, .options = {.lower_case = false}, .max_length = 128};
  EXPECT_EQ(formats::parse_json(tokenizer_json_text(cased))->at("normalizer").at("lowercase"),
            false);
  const auto config = formats::parse_json(tokenizer_config_text(cased));
  EXPECT_EQ(config->at("do_lower_case"), false);
  EXPECT_EQ(config->at("model_max_length"), 128);
}

TEST(HuggingFaceTokenizer, AFolderHasFourFiles) {
  const std::vector<TextFile> files = tokenizer_files({.vocabulary = kVocabulary});
  ASSERT_EQ(files.size(), 4u);
  EXPECT_EQ(files[0].name, "vocab.txt");
  EXPECT_TRUE(files[0].text.ends_with("caf\xc3\xa9\n##s\n"));
  EXPECT_EQ(files[1].text, tokenizer_json_text({.vocabulary = kVocabulary}));
  EXPECT_EQ(files[2].text, tokenizer_config_text({.vocabulary = kVocabulary}));
  EXPECT_EQ(files[3].name, "special_tokens_map.json");
  EXPECT_EQ(formats::parse_json(files[3].text)->at("mask_token"), "[MASK]");
}

TEST(HuggingFaceTokenizer, FolderSaysHowTextIsRead) {
  const auto lower = text::Vocabulary::from_tokens(kTokens);
  std::vector<std::string> with_capital = kTokens;
  with_capital.push_back("A");
  const auto cased = text::Vocabulary::from_tokens(with_capital);
  const std::filesystem::path folder = testing::TempDir() + "tokenizer_options";
  std::filesystem::create_directories(folder);
  const auto say = [&](const char* settings) {
    platform::write_file_atomically(folder / "tokenizer_config.json", settings);
  };
  const auto read = [&](const text::Vocabulary& vocabulary) {
    return read_stated_rules(folder / "tokenizer_config.json").over(
        {.lower_case = vocabulary.likely_lower_cased()});
  };
  using Options = text::TokenizerOptions;
  say(R"({"do_lower_case": false})");
  EXPECT_EQ(read(lower), Options({.lower_case = false}));
  say(R"({"do_lower_case": true})");
  EXPECT_EQ(read(cased), Options());
  say(R"({"strip_accents": null})");
  EXPECT_EQ(read(lower), Options());
  EXPECT_EQ(read(cased), Options({.lower_case = false}));
  EXPECT_EQ(read_stated_rules(folder / "none.json").over({}), Options());
  say(R"({"do_lower_case": true, "strip_accents": false, "tokenize_chinese_chars": false})");
  EXPECT_EQ(read(lower), Options({.strip_accents = false, .tokenize_chinese_chars = false}));

  // What is written says the same.
  const TokenizerDescription converted{.vocabulary = kVocabulary, .options = read(lower)};
  const std::string written = tokenizer_config_text(converted);
  const auto json = formats::Json::parse(tokenizer_json_text(converted));
  EXPECT_EQ(json.at("normalizer").at("strip_accents"), false);
  EXPECT_EQ(json.at("normalizer").at("handle_chinese_chars"), false);
  say(written.c_str());
  EXPECT_EQ(read(cased), converted.options);

  say(R"({"tokenizer_class": "BertTokenizerFast"})");
  EXPECT_NO_THROW(require_bert_tokenizer(folder));
  say(R"({"word_tokenizer_type": "mecab"})");
  EXPECT_NO_THROW(require_bert_tokenizer(folder));
  platform::write_file_atomically(folder / "config.json",
                                  R"({"tokenizer_class": "BertJapaneseTokenizer"})");
  EXPECT_THROW(require_bert_tokenizer(folder), UserError) << "as in the published models";
  std::filesystem::remove(folder / "config.json");
  say(R"({"tokenizer_class": "BertJapaneseTokenizer"})");
  EXPECT_THROW(require_bert_tokenizer(folder), UserError);
  EXPECT_EQ(read(lower), Options());  // for a conversion

  for (const char* wrong : {R"({"do_lower_case": "no"})", R"({"strip_accents": 1})", "[]"}) {
    say(wrong);
    EXPECT_THROW(read(lower), UserError) << wrong;
  }
}

}  // namespace
}  // namespace cloze::checkpoints
