#include "serve/forms/openai_embeddings.h"

#include <gtest/gtest.h>

#include "serve/forms/foreign_endpoint_test.h"

namespace cloze::serve {
namespace {

const ForeignOptions kEncoder{.kind = models::HeadKind::kEmbedding};

std::vector<Answer> vectors_of(std::span<const Input> inputs) {
  std::vector<Answer> answers;
  for (size_t i = 0; i < inputs.size(); ++i) {
    answers.push_back({.numbers = {0, -2, 0}, .tokens = 3, .text = {5, 4}});
  }
  return answers;
}

TEST(OpenAiEmbeddings, AreInTheOrderOfTheTexts) {
  ForeignEndpoint embeddings(openai_embeddings, kEncoder, vectors_of);
  EXPECT_EQ(embeddings.ask(R"({"input": ["a", "b"], "model": "x", "dimensions": 2})"),
            R"(200 {"object":"list","data":[{"object":"embedding","index":0,"embedding":[0,-1]},)"
            R"({"object":"embedding","index":1,"embedding":[0,-1]}],"model":"towns",)"
            R"("usage":{"prompt_tokens":6,"total_tokens":6}})");
}

TEST(OpenAiEmbeddings, MayBeBase64OfLittleEndianNumbers) {
  ForeignEndpoint embeddings(openai_embeddings, kEncoder, vectors_of);
  EXPECT_EQ(embeddings.ask(R"({"input": "a", "model": "x", "encoding_format": "base64"})"),
            R"(200 {"object":"list","data":[{"object":"embedding","index":0,)"
            R"("embedding":"AAAAAAAAgL8AAAAA"}],"model":"towns",)"
            R"("usage":{"prompt_tokens":3,"total_tokens":3}})");
}

TEST(OpenAiEmbeddings, ErrorsAreOpenAis) {
  ForeignEndpoint embeddings(openai_embeddings, kEncoder, vectors_of);
  const auto message = [&](const std::string& body) {
    const Response response = embeddings.reply(body);
    const auto error = formats::Json::parse(response.body).at("error");
    EXPECT_EQ(error.at("type"), "invalid_request_error");
    return fmt::format("{} {}", response.status, error.at("message").get<std::string>());
  };
  EXPECT_EQ(message(R"({"input": ["a", ""]})"), "400 \"input\" has an empty text; leave it out");
  EXPECT_EQ(message(R"({"input": [[1, 2]]})"),
            "400 \"input\" is array; give a text, or a list of texts (token ids are not taken)");
  EXPECT_EQ(message(R"({"input": []})"), "400 \"input\" is empty; give at least one");
  EXPECT_EQ(message(R"({"input": "a", "encoding_format": "f16"})"),
            "400 \"encoding_format\" is \"f16\"; give one of float, base64");
  EXPECT_EQ(message(R"({"input": "a", "dimensions": 17})"),
            "400 \"dimensions\" is 17; the model's vectors have 16");
  ForeignEndpoint strict(openai_embeddings,
                         {.kind = models::HeadKind::kEmbedding, .truncates = false}, vectors_of);
  EXPECT_EQ(strict.reply(R"({"input": "a"})").status, 400);
}

}  // namespace
}  // namespace cloze::serve
