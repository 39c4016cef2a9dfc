#include "serve/forms/token_endpoints.h"

#include <gtest/gtest.h>

#include "serve/forms/foreign_endpoint_test.h"

namespace cloze::serve {
namespace {

const Handler kNobody = [](std::span<const Input>) -> std::vector<Answer> {
  throw_environment_error("the model was asked");
};

// The vocabulary is in made_up_model_test.h.
TEST(TeiTokenize, ListsTokensWithTheirCharacters) {
  ForeignEndpoint tokenize(tei_tokenize, {.labels = {"score"}}, kNobody);
  EXPECT_EQ(tokenize.ask(R"({"inputs": "The \u00e9 town"})"),
            R"(200 [[{"id":2,"text":"[CLS]","special":true,"start":null,"stop":null},)"
            R"({"id":5,"text":"The","special":false,"start":0,"stop":3},)"
            "{\"id\":1,\"text\":\"\u00e9\",\"special\":false,\"start\":4,\"stop\":5},"
            R"({"id":6,"text":"town","special":false,"start":6,"stop":10},)"
            R"({"id":3,"text":"[SEP]","special":true,"start":null,"stop":null}]])");
  EXPECT_EQ(tokenize.ask(R"({"inputs": ["a", ""], "add_special_tokens": false})"),
            R"(200 [[{"id":10,"text":"a","special":false,"start":0,"stop":1}],[]])");
  EXPECT_EQ(tokenize.ask(R"({"inputs": "a", "prompt_name": "query"})"),
            R"(422 {"error":"\"prompt_name\" is \"query\", and the model has no prompts; leave it )"
            R"(out","error_type":"Validation"})");
  EXPECT_EQ(tokenize.ask(R"({"inputs": ["a a a a a a a a a", "a a a a a a a a a", "a a a"]})"),
            R"(422 {"error":"the reply would list more than 20 tokens; send less at once",)"
            R"("error_type":"Validation"})");
  EXPECT_EQ(
      tokenize.ask(R"({"inputs": [1]})"),
      R"x(422 {"error":"\"inputs\" is array; give a text, or a list of texts (token ids are )x"
      R"x(not taken)","error_type":"Validation"})x");
}

TEST(TeiDecode, JoinsPieces) {
  ForeignEndpoint decode(tei_decode, {.labels = {"score"}}, kNobody);
  EXPECT_EQ(decode.ask(R"({"ids": [2, 5, 6, 11, 3]})"), R"(200 ["the town."])");
  EXPECT_EQ(decode.ask(R"({"ids": [[5, 6], [2, 10]], "skip_special_tokens": false})"),
            R"(200 ["the town","[CLS] a"])");
  EXPECT_EQ(decode.ask(R"({"ids": [12]})"),
            R"(422 {"error":"there is no token 12; the vocabulary ends at 11",)"
            R"("error_type":"Validation"})");
  EXPECT_EQ(decode.ask(R"({"ids": [-1]})"),
            R"(422 {"error":"\"ids\" is array; give a list of token ids, or a list of such lists",)"
            R"("error_type":"Validation"})");
  EXPECT_EQ(decode.ask(R"({"ids": [[]]})"), R"(200 [""])");
}

}  // namespace
}  // namespace cloze::serve
