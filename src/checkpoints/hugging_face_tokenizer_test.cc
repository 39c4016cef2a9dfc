#include "checkpoints/hugging_face_tokenizer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "formats/json.h"
#include "platform/file.h"
#include "text/vocabulary.h"

namespace cloze::checkpoints {
namespace {

const std::vector<std::string> kTokens = {"[PAD]",  "[UNK]", "[CLS]",       "[SEP]",
                                          "[MASK]", "\"",    "caf\xc3\xa9", "##s"};

std::string refusal_of(const std::vector<std::string>& tokens) {
  try {
    tokenizer_json_text({.tokens = tokens});
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(HuggingFaceTokenizer, DescribesBertsTokenizer) {
  const auto text = formats::parse_json(tokenizer_json_text({.tokens = kTokens}));
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
      .tokens = kTokens, .options = {.lower_case = false}, .max_length = 128};
  EXPECT_EQ(formats::parse_json(tokenizer_json_text(cased))->at("normalizer").at("lowercase"),
            false);
  const auto config = formats::parse_json(tokenizer_config_text(cased));
  EXPECT_EQ(config->at("do_lower_case"), false);
  EXPECT_EQ(config->at("model_max_length"), 128);
}

TEST(HuggingFaceTokenizer, VocabularyHasALinePerToken) {
  EXPECT_TRUE(vocabulary_text({.tokens = kTokens}).ends_with("caf\xc3\xa9\n##s\n"));
}

TEST(HuggingFaceTokenizer, RefusalsNameTheToken) {
  EXPECT_EQ(refusal_of({"[PAD]", "[UNK]", "[CLS]", "[SEP]"}),
            "the vocabulary has no [MASK]; add it as a line of its own");
  std::vector<std::string> twice = kTokens;
  twice.push_back("##s");
  EXPECT_EQ(refusal_of(twice), "token ##s stands in the vocabulary twice, as 7 and 8; remove one");
  std::vector<std::string> broken = kTokens;
  broken.push_back("\xff");
  EXPECT_EQ(refusal_of(broken), "token 8 of the vocabulary is not UTF-8; correct that line");
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
    return read_tokenizer_options(folder, {.lower_case = vocabulary.likely_lower_cased()});
  };
  using Options = text::TokenizerOptions;
  say(R"({"do_lower_case": false})");
  EXPECT_EQ(read(lower), Options({.lower_case = false}));
  say(R"({"do_lower_case": true})");
  EXPECT_EQ(read(cased), Options());
  say(R"({"strip_accents": null})");
  EXPECT_EQ(read(lower), Options());
  EXPECT_EQ(read(cased), Options({.lower_case = false}));
  EXPECT_EQ(read_tokenizer_options({}, Options()), Options());
  say(R"({"do_lower_case": true, "strip_accents": false, "tokenize_chinese_chars": false})");
  EXPECT_EQ(read(lower), Options({.strip_accents = false, .tokenize_chinese_chars = false}));

  // What is written says the same.
  const TokenizerDescription converted{.tokens = kTokens, .options = read(lower)};
  const std::string written = tokenizer_config_text(converted);
  const auto json = nlohmann::json::parse(tokenizer_json_text(converted));
  EXPECT_EQ(json.at("normalizer").at("strip_accents"), false);
  EXPECT_EQ(json.at("normalizer").at("handle_chinese_chars"), false);
  say(written.c_str());
  EXPECT_EQ(read(cased), converted.options);

  say(R"({"tokenizer_class": "BertTokenizerFast"})");
  EXPECT_NO_THROW(require_bert_tokenizer(folder));
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
