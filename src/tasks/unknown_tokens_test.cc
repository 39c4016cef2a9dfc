#include "tasks/unknown_tokens.h"

#include <gtest/gtest.h>

#include <string>

namespace cloze::tasks {
namespace {

class UnknownTokensTest : public testing::Test {
 protected:
  UnknownTokens of(const std::string& text) const {
    std::vector<int32_t> ids = {2};
    tokenizer_.append_ids(text, ids);
    ids.insert(ids.end(), {4, 3});
    UnknownTokens unknown;
    unknown.count(ids, tokenizer_.vocabulary());
    const std::string_view texts[] = {text};
    unknown.find_causes(texts, tokenizer_);
    return unknown;
  }
  static std::string reply(const UnknownTokens& unknown) {
    formats::Json json = formats::Json::object();
    add_unknown(json, unknown);
    return json.dump();
  }

  const text::Tokenizer tokenizer_{
      text::Vocabulary::from_tokens({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a"}), {}};
};

TEST_F(UnknownTokensTest, SpecialTokensAreNotOfTheText) {
  const UnknownTokens unknown = of("a \u5317 a \u5317 b");
  EXPECT_EQ(unknown.tokens, 5);
  EXPECT_EQ(unknown.unknown, 3);
  EXPECT_EQ(reply(unknown),
            "{\"unknown\":{\"tokens\":5,\"count\":3,\"most_often\":[\"\u5317\",\"b\"]}}");
}

TEST_F(UnknownTokensTest, ATraceIsNotSaid) {
  std::string text;
  for (int i = 0; i < 199; ++i) text += "a ";
  EXPECT_FALSE(of(text + "b").is_more_than_a_trace());
  EXPECT_EQ(reply(of(text + "b")), "{}");
  EXPECT_TRUE(of(text + "b b").is_more_than_a_trace());
  EXPECT_FALSE(of("").is_more_than_a_trace());
}

}  // namespace
}  // namespace cloze::tasks
