#include "serve/endpoint_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <future>

#include "serve/made_up_model_test.h"
#include "serve/openapi.h"
#include "serve/service.h"

namespace cloze::serve {
namespace {

using formats::Json;

Service::Options options_of(const models::BertHead& head) {
  ServedModel served = MadeUpModel(head).serve();
  return {.model = std::move(served.description),
          .endpoints = std::move(served.endpoints),
          .handler = std::move(served.head.handler),
          .rules = {.paths_of_other_models = std::move(served.paths_of_other_models)}};
}

Response answered(Service& service, const RequestHead& head, const std::string& body = "") {
  std::promise<Response> promise;
  service.handle(head, body, [&](Response response) { promise.set_value(std::move(response)); });
  return promise.get_future().get();
}

std::vector<std::string> paths_of(const models::BertHead& head) {
  std::vector<std::string> paths;
  for (const Endpoint& one : MadeUpModel(head).serve().endpoints) paths.push_back(one.path);
  return paths;
}

const models::BertHead kReranker{.kind = models::HeadKind::kSequenceClassification,
                                 .labels = {"score"}};
const models::BertHead kClassifier{.kind = models::HeadKind::kSequenceClassification,
                                   .labels = {"no", "yes"}};
const models::BertHead kEncoder{.kind = models::HeadKind::kEmbedding};
const models::BertHead kFiller{.kind = models::HeadKind::kPretraining};

TEST(EndpointTable, AHeadOffersWhatItCanAnswer) {
  EXPECT_EQ(paths_of(kReranker),
            (std::vector<std::string>{"/classify", "/", "/predict", "/rerank", "/v1/rerank",
                                      "/tokenize", "/decode", "/info", "/v1/models"}));
  EXPECT_EQ(paths_of(kClassifier),
            (std::vector<std::string>{"/classify", "/", "/predict", "/tokenize", "/decode", "/info",
                                      "/v1/models"}));
  EXPECT_EQ(paths_of(kFiller),
            (std::vector<std::string>{"/fill", "/tokenize", "/decode", "/info", "/v1/models"}));
}

TEST(EndpointTable, AnEncoderOffersVectors) {
  EXPECT_EQ(paths_of(kEncoder),
            (std::vector<std::string>{"/embed", "/embed_all", "/similarity", "/v1/embeddings",
                                      "/embeddings", "/", "/tokenize", "/decode", "/info",
                                      "/v1/models"}));
  const MadeUpModel model(kEncoder);
  const auto serve = [&](int64_t dimensions) {
    const std::vector<float> row(static_cast<size_t>(dimensions), 1.0F);
    return model.serve({.num_threads = 1,
                        .documents = std::make_shared<const tasks::TextCollection>(
                            std::vector<std::string>{"a"},
                            tasks::Vectors{.rows = 1, .dimensions = dimensions, .values = row})});
  };
  EXPECT_EQ(serve(16).endpoints[0].path, "/search");
  EXPECT_EQ(serve(16).page_paths, (std::vector<std::string>{"/search", "/similarity"}));
  try {
    serve(17);
    FAIL() << "taken";
  } catch (const UserError& error) {
    EXPECT_STREQ(
        error.what(),
        "the texts' vectors have 17 numbers, and the model's 16; make them with this model");
  }
  Service service(options_of(kEncoder));
  const Json info = Json::parse(answered(service, {.method = "GET", .path = "/info"}).body);
  EXPECT_EQ(info.at("model_type"), Json::parse(R"({"embedding": {"pooling": "mean"}})"));
}

// Clients of Hugging Face ask the address itself; under GET it is the page.
TEST(EndpointTable, TheAddressItselfAnswersByTheKindOfModel) {
  const auto status = [](const models::BertHead& head, const std::string& body) {
    Service service(options_of(head));
    EXPECT_EQ(service.refusal({.method = "POST",
                               .path = "/",
                               .fields = {{"Host", "localhost"},
                                          {"Content-Length", "9"},
                                          {"Content-Type", "application/json"}}}),
              std::nullopt);
    EXPECT_TRUE(answered(service, {.method = "GET", .path = "/"}).body.starts_with("<!DOCTYPE"));
    return answered(service, {.method = "POST", .path = "/"}, body);
  };
  EXPECT_TRUE(status(kEncoder, R"({"inputs": "a"})").body.starts_with("[["));
  EXPECT_EQ(status(kEncoder, R"({"inputs": {"source_sentence": "a", "sentences": ["a"]}})").body,
            "[1]\n");
  EXPECT_EQ(status(kReranker, R"({"query": "a", "texts": ["a", "b"]})").status, 200);
  EXPECT_EQ(status(kClassifier, R"({"inputs": "a"})").status, 200);
}

TEST(EndpointTable, APathOfAnotherModelIsSaidToBeOne) {
  const Service service(options_of(kClassifier));
  const auto refused =
      service.refusal({.method = "POST", .path = "/rerank", .fields = {{"Host", "localhost"}}});
  EXPECT_EQ(refused->body,
            "{\"error\":\"this model does not answer /rerank; it answers /classify / /predict "
            "/tokenize /decode\"}\n");
}

// Each example of the description is answered, so what clients are told works.
TEST(EndpointTable, TheExamplesOfTheDescriptionWork) {
  for (const models::BertHead& head : {kReranker, kClassifier, kFiller, kEncoder}) {
    Service service(options_of(head));
    const Json document =
        Json::parse(answered(service, {.method = "GET", .path = "/api-doc/openapi.json"}).body);
    for (const auto& [path, methods] : document.at("paths").items()) {
      EXPECT_EQ(service.known_path(path), path);
      if (methods.contains("get")) {
        EXPECT_EQ(answered(service, {.method = "GET", .path = path}).status, 200) << path;
      }
      if (!methods.contains("post")) continue;
      const Json& content = methods["post"]["requestBody"]["content"]["application/json"];
      const Json* example = content.find("example");
      if (example == nullptr) continue;
      const Response reply =
          answered(service, {.method = "POST", .path = path}, formats::json_line(*example));
      EXPECT_EQ(reply.status, 200) << path << reply.body;
      for (const auto& [name, value] : example->items()) {
        EXPECT_TRUE(content["schema"]["properties"].contains(name)) << path << " " << name;
      }
    }
  }
}

TEST(EndpointTable, EveryPostOfAForeignFormHasAnExample) {
  for (const Endpoint& endpoint : MadeUpModel(kReranker).serve().endpoints) {
    if (endpoint.errors == ErrorForm::kOwn || !endpoint.takes_body()) continue;
    EXPECT_FALSE(endpoint.example.is_null()) << endpoint.path;
  }
}

TEST(Openapi, DescribesFieldsDefaultsErrorsAndTheKey) {
  const std::vector<Endpoint> endpoints = MadeUpModel(kReranker).serve().endpoints;
  const Json document = openapi_document(endpoints, {.title = "towns", .has_key = true});
  EXPECT_EQ(document.at("info").at("title"), "towns");
  const Json& rerank = document.at("paths").at("/rerank").at("post");
  const Json& schema = rerank["requestBody"]["content"]["application/json"]["schema"];
  EXPECT_EQ(schema.at("required"), Json({"query", "texts"}));
  EXPECT_EQ(schema["properties"]["truncate"]["default"], true);
  EXPECT_EQ(schema["properties"]["texts"]["type"], "array");
  EXPECT_EQ(rerank["responses"]["default"]["content"]["application/json"]["schema"]["$ref"],
            "#/components/schemas/TeiError");
  EXPECT_EQ(rerank.at("security"), Json::array({Json::object({{"key", Json::array()}})}));
  const Json& error = document["components"]["schemas"]["OpenAiError"]["properties"]["error"];
  EXPECT_EQ(error["properties"]["message"]["type"], "string");
  EXPECT_FALSE(
      openapi_document(endpoints, {.title = "towns"})["components"].contains("securitySchemes"));
}

TEST(Info, SaysWhatTeisClientsAskFor) {
  Service service(options_of(kReranker));
  const Json info = Json::parse(answered(service, {.method = "GET", .path = "/info"}).body);
  EXPECT_EQ(info.at("model_type"), Json::parse(R"({"reranker": {"id2label": {"0": "score"},
                                                  "label2id": {"score": 0}}})"));
  EXPECT_EQ(info.at("model_dtype"), "float32");
  EXPECT_EQ(info.at("max_input_length"), 32);
  EXPECT_EQ(info.at("max_client_batch_size"), 2048);
  EXPECT_EQ(info.at("auto_truncate"), true);
  const Json models = Json::parse(answered(service, {.method = "GET", .path = "/v1/models"}).body);
  EXPECT_EQ(models.at("object"), "list");
  EXPECT_EQ(models.at("data")[0].at("id"), info.at("served_model_name"));
  EXPECT_EQ(models.at("data")[0].at("object"), "model");
}

}  // namespace
}  // namespace cloze::serve
