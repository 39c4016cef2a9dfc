#include "serve/forms/embedding_endpoints.h"

#include <gtest/gtest.h>

#include "serve/forms/foreign_endpoint_test.h"
#include "serve/search_endpoint.h"

namespace cloze::serve {
namespace {

const ForeignOptions kEncoder{.kind = models::HeadKind::kEmbedding};

// The vector of a text is made of its length; of tokens there are two vectors. The model's vectors
// have 16 numbers (made_up_model_test.h), but those here have 2.
std::vector<Answer> vectors_of(std::span<const Input> inputs) {
  std::vector<Answer> answers;
  for (const Input& input : inputs) {
    if (input.first == "odd") throw_data_error("the logits are not finite numbers");
    const auto length = static_cast<float>(input.first.size());
    std::vector<float> numbers = {3 * length, 4 * length};
    if (input.cuts_start) numbers[1] = 0;
    if (input.mode == "tokens") numbers.insert(numbers.end(), {0.1f, 7});
    answers.push_back({.numbers = numbers, .tokens = 2, .text = {5, 4}});
  }
  return answers;
}

TEST(TeiEmbed, IsAlwaysAListOfVectors) {
  ForeignEndpoint embed(tei_embed, kEncoder, vectors_of);
  EXPECT_EQ(embed.ask(R"({"inputs": "a"})"), "200 [[0.6,0.8]]");
  EXPECT_EQ(embed.ask(R"({"inputs": ["a", "bb"]})"), "200 [[0.6,0.8],[0.6,0.8]]");
  EXPECT_EQ(embed.ask(R"({"inputs": ["a", "bb"], "normalize": false})"), "200 [[3,4],[6,8]]");
}

TEST(TeiEmbed, DimensionsAreCutBeforeTheyAreNormalized) {
  ForeignEndpoint embed(tei_embed, kEncoder, vectors_of);
  EXPECT_EQ(embed.ask(R"({"inputs": "a", "dimensions": 1})"), "200 [[1]]");
  EXPECT_EQ(embed.ask(R"({"inputs": "a", "dimensions": 1, "normalize": false})"), "200 [[3]]");
  EXPECT_EQ(embed.ask(R"({"inputs": "a", "dimensions": 17})"),
            R"(422 {"error":"\"dimensions\" is 17; the model's vectors have 16",)"
            R"("error_type":"Validation"})");
  EXPECT_EQ(embed.ask(R"({"inputs": "a", "dimensions": 0})"),
            R"(422 {"error":"\"dimensions\" is 0; give a whole number from 1 on",)"
            R"("error_type":"Validation"})");
}

TEST(TeiEmbed, CutsTheEndThatIsNamed) {
  ForeignEndpoint embed(tei_embed, kEncoder, vectors_of);
  for (const char* left : {"left", "Left"}) {
    const std::string direction = R"("truncation_direction": ")" + std::string(left) + "\"}";
    EXPECT_EQ(embed.ask(R"({"inputs": "a", "normalize": false, )" + direction), "200 [[3,0]]");
    EXPECT_EQ(embed.ask(R"({"inputs": "a", "truncate": false, )" + direction).substr(0, 3), "422");
  }
  EXPECT_EQ(embed.ask(R"({"inputs": "a", "truncation_direction": "Right"})"), "200 [[0.6,0.8]]");
}

TEST(TeiEmbed, SaysWhatItDoesNotTake) {
  ForeignEndpoint embed(tei_embed, kEncoder, vectors_of);
  EXPECT_EQ(
      embed.ask(R"({"inputs": [101, 102]})"),
      R"x(422 {"error":"\"inputs\" is array; give a text, or a list of texts (token ids are )x"
      R"x(not taken)","error_type":"Validation"})x");
  EXPECT_EQ(embed.ask(R"({"inputs": "a", "prompt_name": "query"})"),
            R"(422 {"error":"\"prompt_name\" is \"query\", and the model has no prompts; leave it )"
            R"(out","error_type":"Validation"})");
  EXPECT_EQ(embed.ask(R"({"inputs": "a", "truncate": false})").substr(0, 30),
            R"(422 {"error":"an input has 5 t)");
  EXPECT_EQ(embed.ask(R"({"inputs": []})"),
            R"(400 {"error":"\"inputs\" is empty; give at least one","error_type":"Empty"})");
  EXPECT_EQ(embed.ask(R"({"inputs": ["a", "odd"]})").substr(0, 3), "424");
}

TEST(TeiEmbedAll, HasAVectorForEachToken) {
  ForeignEndpoint embed(tei_embed_all, kEncoder, vectors_of);
  EXPECT_EQ(embed.ask(R"({"inputs": ["a", "bb"]})"), "200 [[[3,4],[0.1,7]],[[6,8],[0.1,7]]]");
  EXPECT_EQ(embed.ask(R"({"inputs": ["12345678901", "12345678901"]})"),
            R"(422 {"error":"the reply would list 26 candidates, more than 20; send less at once",)"
            R"("error_type":"Validation"})");
}

TEST(TeiSimilarity, IsACosineForEachText) {
  const Handler directions = [](std::span<const Input> inputs) {
    std::vector<Answer> answers;
    for (const Input& input : inputs) {
      const bool is_up = input.first == "up";
      answers.push_back({.numbers = {is_up ? 0.f : 5.f, is_up ? 2.f : 0.f}, .text = {5, 4}});
    }
    return answers;
  };
  ForeignEndpoint similarity(tei_similarity, kEncoder, directions);
  EXPECT_EQ(
      similarity.ask(R"({"inputs": {"source_sentence": "up", "sentences": ["up", "right"]}})"),
      "200 [1,0]");
  EXPECT_EQ(similarity
                .ask(R"({"inputs": {"source_sentence": "up", "sentences": ["up"]},)"
                     R"( "parameters": {"truncate": false}})")
                .substr(0, 30),
            R"(422 {"error":"an input has 5 t)");
  EXPECT_EQ(similarity.ask(R"({"inputs": {"source_sentence": "a", "sentences": ["a", "b", "c"]}})"),
            R"(422 {"error":"there are 4 texts, more than 3; send several requests",)"
            R"("error_type":"Validation"})");
  EXPECT_EQ(similarity.ask(R"({"inputs": {"sentences": ["up"]}})"),
            R"(422 {"error":"\"source_sentence\" is missing; give a text in quotes",)"
            R"("error_type":"Validation"})");
  EXPECT_EQ(similarity.ask(R"({"inputs": "up"})"),
            R"(422 {"error":"\"inputs\" is \"up\"; give an object","error_type":"Validation"})");
}

// Texts whose vectors point to the sides of a square; a query's first letter says where it points.
TEST(Search, FindsTheNearestTexts) {
  const auto texts = std::make_shared<const tasks::TextCollection>(
      std::vector<std::string>{"up", "left", "down", "upwards"},
      tasks::Vectors{.rows = 4, .dimensions = 2, .values = {0, 1, -1, 0, 0, -1, 0, 7}});
  const Handler directions = [](std::span<const Input> inputs) {
    std::vector<Answer> answers;
    for (const Input& input : inputs) {
      const bool is_up = input.first.starts_with('u');
      answers.push_back({.numbers = {is_up ? 0.f : -4.f, is_up ? 2.f : 0.f, 9.f}, .text = {5, 4}});
    }
    return answers;
  };
  ForeignOptions options = kEncoder;
  options.documents = texts;
  ForeignEndpoint search(search_endpoint, options, directions);
  EXPECT_EQ(search.ask(R"({"query": "u", "top_k": 2})"),
            R"(200 {"results":[{"index":0,"score":1.0,"text":"up"},)"
            R"({"index":3,"score":1.0,"text":"upwards"}],"model":"towns",)"
            R"("truncated":{"tokens":5,"kept":4}})");
  EXPECT_NE(search.ask(R"({"query": "left"})").find(R"([{"index":1,"score":1.0)"),
            std::string::npos);
  EXPECT_EQ(search.ask(R"({"query": "u", "top_k": 5})"),
            R"(400 {"error":"\"top_k\" is 5; it may be 1 to 4"})");
  EXPECT_EQ(search.ask(R"({"query": ["u"]})"),
            R"(400 {"error":"\"query\" is array; give a text in quotes"})");
  EXPECT_EQ(search.ask(R"({})"), R"(400 {"error":"\"query\" is missing; give a text in quotes"})");
  EXPECT_EQ(search.ask(R"({"query": "u", "prompt_name": "query"})").substr(0, 3), "400");
}

}  // namespace
}  // namespace cloze::serve
