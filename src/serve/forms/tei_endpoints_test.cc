#include "serve/forms/tei_endpoints.h"

#include <gtest/gtest.h>

#include "serve/forms/class_scores.h"
#include "serve/forms/foreign_endpoint_test.h"

namespace cloze::serve {
namespace {

// Logits that the texts name: "2" and "1" of a pair are those of two classes.
std::vector<Answer> logits_of(std::span<const Input> inputs) {
  std::vector<Answer> answers;
  for (const Input& input : inputs) {
    if (input.first == "odd") throw_data_error("the logits are not finite numbers");
    const float first = std::stof("0" + input.first);
    const float second = std::stof("0" + input.second);
    answers.push_back({.numbers = {first, second}, .tokens = 3, .text = {5, 4}});
  }
  return answers;
}

TEST(TeiPredict, OneInputIsAListOfAllClasses) {
  ForeignEndpoint predict(tei_predict, {.labels = {"no", "yes"}}, logits_of);
  EXPECT_EQ(predict.ask(R"({"inputs": "0", "raw_scores": true})"),
            R"(200 [{"score":0,"label":"no"},{"score":0,"label":"yes"}])");
  EXPECT_EQ(predict.ask(R"({"inputs": ["1", "2.5"], "raw_scores": true})"),
            R"(200 [{"score":2.5,"label":"yes"},{"score":1,"label":"no"}])");
  EXPECT_EQ(predict.ask(R"({"inputs": ["1", "2"]})"),
            R"(200 [{"score":0.7310586,"label":"yes"},{"score":0.26894143,"label":"no"}])");
}

TEST(TeiPredict, ABatchIsAListOfLists) {
  ForeignEndpoint predict(tei_predict, {.labels = {"no", "yes"}}, logits_of);
  EXPECT_EQ(predict.ask(R"({"inputs": [["3"], ["1", "2"]], "raw_scores": true})"),
            R"(200 [[{"score":3,"label":"no"},{"score":0,"label":"yes"}],)"
            R"([{"score":2,"label":"yes"},{"score":1,"label":"no"}]])");
}

TEST(TeiPredict, SeveralLabelsHoldEachByItself) {
  ForeignEndpoint predict(tei_predict, {.labels = {"a", "b"}, .is_multi_label = true}, logits_of);
  EXPECT_EQ(predict.ask(R"({"inputs": ["1", "2"]})"),
            R"(200 [{"score":0.8807971,"label":"b"},{"score":0.7310586,"label":"a"}])");
}

TEST(TeiPredict, SaysWhatIsWrongInTeisForm) {
  ForeignEndpoint predict(tei_predict, {.labels = {"no", "yes"}}, logits_of);
  const auto error = [&](const std::string& body) { return predict.ask(body); };
  EXPECT_EQ(
      error("{"),
      R"(422 {"error":"the body is not JSON: line 1, column 2: )"
      R"(syntax error while parsing object key - unexpected end of input; expected string literal","error_type":"Validation"})");
  EXPECT_EQ(error("[]"), R"(422 {"error":"the body is array; give an object with \"inputs\"",)"
                         R"("error_type":"Validation"})");
  EXPECT_EQ(error("{}"),
            R"(422 {"error":"\"inputs\" is missing; give a text, a pair of texts, or a list of )"
            R"([text] and [text, text]","error_type":"Validation"})");
  EXPECT_EQ(error(R"({"inputs": []})"),
            R"(400 {"error":"\"inputs\" is empty; give at least one","error_type":"Empty"})");
  EXPECT_EQ(error(R"({"inputs": ["a", "b", "c"]})"),
            R"(422 {"error":"an input has 3 texts; give [text] or [text, text]",)"
            R"("error_type":"Validation"})");
  EXPECT_EQ(error(R"({"inputs": "1", "raw_scores": 1})"),
            R"(422 {"error":"\"raw_scores\" is 1; give true or false","error_type":"Validation"})");
  EXPECT_EQ(error(R"({"inputs": [["1"], ["1"], ["1"], ["1"]]})"),
            R"(422 {"error":"\"inputs\" has 4 entries, more than 3; send several requests",)"
            R"("error_type":"Validation"})");
  EXPECT_EQ(error(R"({"inputs": "123456789012345678901"})"),
            R"(422 {"error":"\"inputs\" has 21 bytes, more than 20; shorten it",)"
            R"("error_type":"Validation"})");
  EXPECT_EQ(error(R"({"inputs": "odd"})"),
            R"(424 {"error":"the model failed: the logits are not finite numbers",)"
            R"("error_type":"Backend"})");
}

TEST(TeiPredict, TruncationIsHonouredOrRefused) {
  ForeignEndpoint predict(tei_predict, {.labels = {"no", "yes"}}, logits_of);
  const std::string whole =
      R"(422 {"error":"an input has 5 tokens, and 4 fit; shorten it, or set \"truncate\"",)"
      R"("error_type":"Validation"})";
  EXPECT_EQ(predict.ask(R"({"inputs": "1", "truncate": false})"), whole);
  EXPECT_EQ(predict.ask(R"({"inputs": "1", "truncation_direction": "left"})").substr(0, 3), "200");
  EXPECT_EQ(predict.ask(R"({"inputs": "1", "truncation_direction": "up"})"),
            R"(422 {"error":"\"truncation_direction\" is \"up\"; give one of right, Right, left, )"
            R"(Left","error_type":"Validation"})");
  EXPECT_EQ(predict.ask(R"({"inputs": "1", "truncation_direction": "Right"})").substr(0, 3), "200");
  ForeignEndpoint strict(tei_predict, {.labels = {"no", "yes"}, .truncates = false}, logits_of);
  EXPECT_EQ(strict.ask(R"({"inputs": "1"})"), whole);
  EXPECT_EQ(strict.ask(R"({"inputs": "1", "truncate": true})").substr(0, 3), "200");
}

TEST(TeiPredict, TooManyClassesAreRefused) {
  ForeignEndpoint predict(
      tei_predict, {.labels = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"}}, logits_of);
  EXPECT_EQ(predict.ask(R"({"inputs": [["1"], ["1"]]})"),
            R"(422 {"error":"the reply would list 22 candidates, more than 20; send less at once",)"
            R"("error_type":"Validation"})");
}

TEST(ClassScores, EqualOnesKeepTheirOrder) {
  EXPECT_EQ(best_first(std::vector<float>{1, 3, 3, 2}), (std::vector<size_t>{1, 2, 3, 0}));
}

}  // namespace
}  // namespace cloze::serve
