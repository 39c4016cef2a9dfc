#include "serve/forms/rerank_endpoints.h"

#include <gtest/gtest.h>

#include "serve/forms/foreign_endpoint_test.h"

namespace cloze::serve {
namespace {

// The text is the logit.
std::vector<Answer> logits_of(std::span<const Input> inputs) {
  std::vector<Answer> answers;
  for (const Input& input : inputs) {
    if (input.second == "odd") throw_data_error("the logits are not finite numbers");
    EXPECT_EQ(input.first, "how many?");
    answers.push_back({.numbers = {std::stof(input.second)}, .tokens = 4, .text = {5, 4}});
  }
  return answers;
}

TEST(TeiRerank, OrdersTexts) {
  ForeignEndpoint rerank(tei_rerank, {.labels = {"score"}}, logits_of);
  EXPECT_EQ(rerank.ask(R"({"query": "how many?", "texts": ["0", "2", "1"]})"),
            R"(200 [{"index":1,"score":0.8807971},{"index":2,"score":0.7310586},)"
            R"({"index":0,"score":0.5}])");
  EXPECT_EQ(
      rerank.ask(R"({"query": "how many?", "texts": ["-3.25", "0.1"], "raw_scores": true,)"
                 R"( "return_text": true})"),
      R"(200 [{"index":1,"score":0.1,"text":"0.1"},{"index":0,"score":-3.25,"text":"-3.25"}])");
  EXPECT_EQ(rerank.ask(R"({"query": "how many?", "texts": ["1"], "truncate": false})"),
            R"(422 {"error":"an input has 5 tokens, and 4 fit; shorten it, or set \"truncate\"",)"
            R"("error_type":"Validation"})");
  EXPECT_EQ(rerank.ask(R"({"query": "how many?", "texts": []})"),
            R"(400 {"error":"\"texts\" is empty; give at least one","error_type":"Empty"})");
}

TEST(JinaRerank, OrdersDocuments) {
  ForeignEndpoint rerank(jina_rerank, {.labels = {"score"}}, logits_of);
  EXPECT_EQ(rerank.ask(R"({"model": "m", "query": "how many?", "documents": ["0", "2"]})"),
            R"(200 {"model":"towns","results":[{"index":1,"relevance_score":0.8807971},)"
            R"({"index":0,"relevance_score":0.5}],"usage":{"total_tokens":8}})");
  EXPECT_EQ(rerank.ask(R"({"query": "how many?", "documents": [{"text": "0"}, "2"], "top_n": 1,)"
                       R"( "return_documents": true})"),
            R"(200 {"model":"towns","results":[{"index":1,"relevance_score":0.8807971,)"
            R"("document":{"text":"2"}}],"usage":{"total_tokens":8}})");
}

TEST(JinaRerank, SaysWhatIsWrongInOpenAisForm) {
  ForeignEndpoint rerank(jina_rerank, {.labels = {"score"}}, logits_of);
  EXPECT_EQ(
      rerank.ask(R"({"query": "how many?", "documents": [1]})"),
      R"(400 {"error":{"message":"\"documents\" is array; give a list of texts, or of objects )"
      R"(with \"text\"","type":"invalid_request_error","param":null,"code":null}})");
  EXPECT_EQ(rerank.ask(R"({"query": "how many?", "documents": ["1"], "top_n": 0})"),
            R"(400 {"error":{"message":"\"top_n\" is 0; give a whole number from 1 on",)"
            R"("type":"invalid_request_error","param":null,"code":null}})");
  EXPECT_EQ(rerank.ask(R"({"query": "how many?", "documents": ["odd"]})"),
            R"(500 {"error":{"message":"the model failed: the logits are not finite numbers",)"
            R"("type":"server_error","param":null,"code":null}})");
}

TEST(TeiRerank, ARepliesHeaderSaysWhatItTook) {
  ForeignEndpoint rerank(tei_rerank, {.labels = {"score"}}, logits_of);
  const Response response = rerank.reply(R"({"query": "how many?", "texts": ["0", "2"]})");
  const auto field = [&](const std::string& name) {
    for (const auto& [known, value] : response.fields) {
      if (known == name) return value;
    }
    return std::string("none");
  };
  EXPECT_EQ(field("x-compute-type"), "cpu");
  EXPECT_EQ(field("x-compute-characters"), "20");
  EXPECT_EQ(field("x-compute-tokens"), "8");
  for (const std::string name : {"x-compute-time", "x-total-time", "x-tokenization-time",
                                 "x-queue-time", "x-inference-time"}) {
    EXPECT_TRUE(std::stoi(field(name)) >= 0) << name;
  }
}

}  // namespace
}  // namespace cloze::serve
