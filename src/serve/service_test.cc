#include "serve/service.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <future>

#include "base/error.h"
#include "serve/own_endpoint.h"

namespace cloze::serve {
namespace {

constexpr Limits kLimits = {.header_bytes = 1000, .body_bytes = 100};

std::vector<Answer> echo(std::span<const Input> inputs) {
  std::vector<Answer> answers;
  for (const Input& input : inputs) {
    if (input.first == "bad") throw_user_error("\"bad\" is bad");
    if (input.first == "broken") throw_environment_error("no memory");
    if (input.first == "odd") throw_data_error("the logits are not finite numbers");
    answers.push_back({.value = {{"echo", input.first}}, .tokens = 3});
  }
  return answers;
}

Service::Options echo_options() {
  const OwnForm form{.path = "/fill", .first_field = "text", .has_top_k = true};
  return {.model = {{"name", "echo"}},
          .endpoints = {own_endpoint(form, "echo", kLimits)},
          .own_paths = {"/fill"},
          .handler = echo,
          .rules = {.limits = kLimits, .paths_of_other_models = {"/answer"}}};
}

RequestHead post(const std::string& path) {
  return {.method = "POST",
          .path = path,
          .fields = {{"Host", "127.0.0.1:8080"},
                     {"Content-Type", "application/json; charset=utf-8"},
                     {"Content-Length", "10"}},
          .bytes = 100};
}

RequestHead get(const std::string& path) {
  return {.method = "GET", .path = path, .fields = {{"Host", "localhost"}}, .bytes = 100};
}

RequestHead with_field(RequestHead head, const std::string& name, const std::string& value) {
  std::erase_if(head.fields, [&](const auto& field) { return field.first == name; });
  head.fields.push_back({name, value});
  return head;
}

// "404 message", or "" when the request may go on.
std::string refused(const Service& service, const RequestHead& head) {
  const std::optional<Response> response = service.refusal(head);
  if (!response) return "";
  EXPECT_TRUE(response->closes_connection);
  return fmt::format("{} {}", response->status,
                     formats::Json::parse(response->body).at("error").get<std::string>());
}

Response answered(Service& service, const RequestHead& head, const std::string& body = "") {
  std::promise<Response> promise;
  service.handle(head, body, [&](Response response) { promise.set_value(std::move(response)); });
  return promise.get_future().get();
}

TEST(Service, PathsAndMethods) {
  const Service service(echo_options());
  for (const std::string path : {"/", "/health", "/metrics", "/model"}) {
    EXPECT_EQ(refused(service, get(path)), "");
    EXPECT_EQ(service.known_path(path), path);
  }
  EXPECT_EQ(refused(service, post("/fill")), "");
  EXPECT_EQ(refused(service, get("/fill")), "405 /fill does not take GET; use POST");
  EXPECT_EQ(refused(service, post("/health")), "405 /health does not take POST; use GET, HEAD");
  EXPECT_EQ(service.refusal(get("/fill"))->fields[0],
            (std::pair<std::string, std::string>{"Allow", "POST"}));
  EXPECT_EQ(refused(service, post("/answer")),
            "404 this model does not answer /answer; it answers /fill");
  EXPECT_EQ(
      refused(service, get("/../etc/passwd")),
      "404 there is nothing at /../etc/passwd; there is /fill and / /health /metrics /model /ping "
      "/docs /api-doc/openapi.json");
  EXPECT_EQ(service.known_path("/answer"), "other");
}

TEST(Service, HeadersAndBodies) {
  const Service service(echo_options());
  const RequestHead good = post("/fill");
  EXPECT_EQ(refused(service, with_field(good, "Content-Length", "101")),
            "413 the body has 101 bytes, more than 100; send less");
  for (const std::string length : {"", "-1", "+1", "1 ", "1,1", "0x1", "99999999999999999999"}) {
    EXPECT_EQ(refused(service, with_field(good, "Content-Length", length)),
              "400 Content-Length is not a single whole number")
        << length;
  }
  EXPECT_EQ(refused(service, with_field(good, "Transfer-Encoding", "chunked")),
            "411 the body's length is not given; send Content-Length");
  EXPECT_EQ(refused(service, with_field(good, "Content-Type", "text/plain")),
            "415 the body must be JSON; send Content-Type: application/json");
  EXPECT_EQ(refused(service, with_field(get("/"), "Content-Length", "5")), "413 GET takes no body");
  EXPECT_EQ(refused(service, with_field(get("/"), "Content-Length", "00")), "");
  RequestHead long_head = good;
  long_head.bytes = 1001;
  EXPECT_EQ(refused(service, long_head),
            "431 the request line and header have 1001 bytes, more than 1000; shorten them");
  RequestHead twice = good;
  twice.fields.push_back({"content-length", "10"});
  EXPECT_EQ(refused(service, twice), "400 Content-Length is not a single whole number");
  RequestHead nothing_and_something = with_field(get("/"), "Content-Length", "0");
  nothing_and_something.fields.push_back({"Content-Length", "5"});
  EXPECT_EQ(refused(service, nothing_and_something),
            "400 Content-Length is not a single whole number");
}

TEST(Service, NamesOfFieldsAreTokens) {
  const Service service(echo_options());
  EXPECT_EQ(refused(service, with_field(get("/"), "X-1_!#$%&'*+.^`|~", "5")), "");
  for (const std::string name :
       {"Content-Length ", "Content-Length\t", " Host", "X Y", "X\x80", ""}) {
    EXPECT_EQ(refused(service, with_field(get("/"), name, "5")),
              fmt::format(
                  "400 \"{}\" cannot be the name of a header field; use letters, digits and -, and "
                  "put the colon directly after them",
                  name == "X\x80" ? "X\uFFFD" : name));
  }
}

TEST(Service, OnLoopbackOnlyItsNamesAreAnsweredTo) {
  const Service here(echo_options());
  for (const std::string host :
       {"localhost", "LOCALHOST:1", "127.0.0.1", "127.1.2.3:80", "[::1]", "[::1]:80"}) {
    EXPECT_EQ(refused(here, with_field(get("/"), "Host", host)), "") << host;
  }
  for (const std::string host :
       {"example.org", "127.example.org:80", "localhost.example.org", "", "::1"}) {
    EXPECT_EQ(refused(here, with_field(get("/"), "Host", host)),
              fmt::format("421 Host \"{}\" is not this machine; use localhost or 127.0.0.1", host));
  }
  RequestHead absolute = get("/");
  absolute.set_target("http://127.0.0.1:8080/health");
  EXPECT_EQ(refused(here, absolute), "");
  absolute.set_target("http://example.org/health");
  EXPECT_EQ(refused(here, absolute),
            "421 Host \"example.org\" is not this machine; use localhost or 127.0.0.1");
  absolute.set_target("http://localhost/health");
  EXPECT_TRUE(refused(here, with_field(absolute, "Host", "example.org")).starts_with("421 "));
  RequestHead without = get("/");
  without.fields.clear();
  EXPECT_EQ(refused(here, without),
            "400 there must be exactly one Host field in the header; send one");
  without.version = "HTTP/1.0";
  EXPECT_EQ(refused(here, without), "");
  Service::Options options = echo_options();
  options.rules.is_loopback = false;
  EXPECT_EQ(refused(Service(options), with_field(get("/"), "Host", "example.org")), "");
}

TEST(Service, AnswersOneAndMany) {
  Service service(echo_options());
  EXPECT_EQ(answered(service, post("/fill"), R"({"text": "a"})").body,
            "{\"echo\":\"a\",\"model\":\"echo\"}\n");
  EXPECT_EQ(
      answered(service, post("/fill"), R"({"inputs": [{"text": "a"}, {"text": "bad"}]})").body,
      "{\"outputs\":[{\"echo\":\"a\"},{\"error\":\"\\\"bad\\\" is bad\"}],\"model\":\"echo\"}\n");
  const Response bad = answered(service, post("/fill"), R"({"text": "bad"})");
  EXPECT_EQ(bad.status, 400);
  EXPECT_EQ(bad.body, "{\"error\":\"\\\"bad\\\" is bad\"}\n");
  const Response broken = answered(service, post("/fill"), R"({"text": "broken"})");
  EXPECT_EQ(broken.status, 500);
  EXPECT_EQ(broken.body, "{\"error\":\"the model failed: no memory\"}\n");
  EXPECT_EQ(answered(service, post("/fill"), "{").status, 400);
}

TEST(Service, AModelThatDivergedIsNotTheClientsMistake) {
  Service service(echo_options());
  const Response alone = answered(service, post("/fill"), R"({"text": "odd"})");
  EXPECT_EQ(alone.status, 500);
  EXPECT_EQ(alone.body, "{\"error\":\"the model failed: the logits are not finite numbers\"}\n");
  const Response list =
      answered(service, post("/fill"), R"({"inputs": [{"text": "a"}, {"text": "odd"}]})");
  EXPECT_EQ(list.status, 500) << "whoever watches the status sees it";
  EXPECT_EQ(list.body,
            R"({"outputs":[{"echo":"a"},)"
            R"({"error":"the model failed: the logits are not finite numbers"}],"model":"echo"})"
            "\n");
}

TEST(Service, ABadInputSpoilsOnlyItsOwnAnswer) {
  Service service(echo_options());
  std::promise<Response> promise;
  service.handle(post("/fill"), R"({"inputs": [{"texte": "a"}, {"text": "b"}, {"text": "bad"}]})",
                 [&](Response response) { promise.set_value(std::move(response)); });
  const Response mixed = promise.get_future().get();
  EXPECT_EQ(mixed.status, 200);
  EXPECT_EQ(mixed.body,
            R"({"outputs":[{"error":"unknown field \"texte\"; /fill takes \"text\", \"top_k\""},)"
            R"({"echo":"b"},{"error":"\"bad\" is bad"}],"model":"echo"})"
            "\n");
  Response all_bad;
  service.handle(post("/fill"), R"({"inputs": [{}]})",
                 [&](Response response) { all_bad = std::move(response); });
  EXPECT_EQ(all_bad.status, 200);
  EXPECT_EQ(all_bad.body,
            "{\"outputs\":[{\"error\":\"\\\"text\\\" is missing; give it a "
            "text\"}],\"model\":\"echo\"}\n");
}

TEST(Service, AKeyIsAskedForWhereItMatters) {
  Service::Options options = echo_options();
  options.rules.key = "secret";
  const Service service(std::move(options));
  const RequestHead good = with_field(post("/fill"), "Authorization", "Bearer secret");
  EXPECT_EQ(refused(service, good), "");
  EXPECT_EQ(refused(service, post("/fill")),
            "401 the server's key is missing or wrong; send Authorization: Bearer KEY");
  EXPECT_EQ(service.refusal(post("/fill"))->fields[0],
            (std::pair<std::string, std::string>{"WWW-Authenticate", "Bearer"}));
  EXPECT_TRUE(refused(service, get("/model")).starts_with("401 "));
  for (const std::string path :
       {"/", "/health", "/ping", "/metrics", "/docs", "/api-doc/openapi.json"}) {
    EXPECT_EQ(refused(service, get(path)), "") << path;
  }
}

// In OpenAI's form, so that its clients show the message.
TEST(Service, ARefusalHasTheFormOfItsEndpoint) {
  Service::Options options = echo_options();
  options.rules.key = "secret";
  options.endpoints[0].errors = ErrorForm::kOpenAi;
  EXPECT_EQ(Service(options).refusal(post("/fill"))->body,
            "{\"error\":{\"message\":\"the server's key is missing or wrong; send "
            "Authorization: Bearer KEY\",\"type\":\"invalid_request_error\",\"param\":null,"
            "\"code\":\"invalid_api_key\"}}\n");
  options.endpoints[0].errors = ErrorForm::kTei;
  EXPECT_EQ(Service(options).refusal(get("/fill"))->body,
            "{\"error\":\"/fill does not take GET; use POST\",\"error_type\":\"Validation\"}\n");
}

TEST(Service, SaysHowItIs) {
  Service service(echo_options());
  EXPECT_EQ(answered(service, get("/health")).body, "{\"status\":\"ok\"}\n");
  const auto model = formats::Json::parse(answered(service, get("/model")).body);
  EXPECT_EQ(model.at("model").at("name"), "echo");
  EXPECT_EQ(model.at("endpoints"), formats::Json({"/fill"}));
  EXPECT_EQ(model.at("limits").at("body_bytes"), 100);
  service.set_connection_count([] { return 4; });
  EXPECT_NE(answered(service, get("/metrics")).body.find("\ncloze_connections 4\n"),
            std::string::npos);
  EXPECT_TRUE(answered(service, get("/")).body.starts_with("<!DOCTYPE html>"));
  EXPECT_TRUE(answered(service, get("/docs")).body.starts_with("<!DOCTYPE html>"));
  EXPECT_EQ(answered(service, get("/ping")).body, "");
}

TEST(Service, CountsUnderTeisNamesToo) {
  Service service(echo_options());
  answered(service, post("/fill"), R"({"text": "a"})");
  answered(service, post("/fill"), "{");
  const std::string counts = answered(service, get("/metrics")).body;
  for (const std::string line :
       {"te_request_success{method=\"single\"} 1", "te_request_failure{err=\"validation\"} 1",
        "te_predict_count 1", "te_batch_next_tokens_sum 3", "te_queue_size 0"}) {
    EXPECT_NE(counts.find("\n" + line + "\n"), std::string::npos) << line;
  }
}

TEST(Service, AfterTheStopItRefusesWithRetryAfter) {
  Service service(echo_options());
  service.stop();
  const Response response = answered(service, post("/fill"), R"({"text": "a"})");
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.body, "{\"error\":\"the server is stopping; try again later\"}\n");
  EXPECT_EQ(response.fields[0].first, "Retry-After");
  EXPECT_TRUE(response.closes_connection);
}

}  // namespace
}  // namespace cloze::serve
