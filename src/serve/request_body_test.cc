#include "serve/request_body.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "serve/failure.h"

namespace cloze::serve {
namespace {

const OwnForm kAnswer = {.path = "/answer",
                         .first_field = "question",
                         .second_field = "context",
                         .requires_second = true,
                         .has_top_k = true};
const OwnForm kClassify = {.path = "/classify", .first_field = "text", .second_field = "text_pair"};

constexpr std::string_view kModes[] = {"first", "none"};
const OwnForm kTag = {
    .path = "/tag", .first_field = "text", .mode_field = "aggregation", .modes = kModes};

constexpr Limits kLimits = {
    .text_bytes = 20, .inputs_per_request = 3, .top_k = 9, .queue = {.batch_candidates = 20}};

RequestBody parsed(const std::string& text, const OwnForm& form) {
  return parse_request_body(text, form, kLimits);
}

// "400 message"
std::string refused(const std::string& text, const OwnForm& form = kAnswer) {
  try {
    parse_request_body(text, form, kLimits);
  } catch (const Failure& failure) {
    const Response told = failure_response(ErrorForm::kOwn, failure);
    return fmt::format("{} {}", told.status, failure.message);
  }
  return "taken";
}

TEST(RequestBody, ReadsOneInput) {
  const RequestBody body = parsed(R"({"question": "q", "context": "c", "top_k": 3})", kAnswer);
  EXPECT_FALSE(body.is_list);
  ASSERT_EQ(body.inputs.size(), 1u);
  EXPECT_EQ(body.inputs[0].first, "q");
  EXPECT_EQ(body.inputs[0].second, "c");
  EXPECT_EQ(body.inputs[0].top_k, 3);
}

TEST(RequestBody, ReadsAList) {
  const RequestBody body =
      parsed(R"({"inputs": [{"text": "a"}, {"text": "b", "text_pair": "c"}]})", kClassify);
  EXPECT_TRUE(body.is_list);
  ASSERT_EQ(body.inputs.size(), 2u);
  EXPECT_EQ(body.inputs[0].second, "");
  EXPECT_EQ(body.inputs[1].second, "c");
  EXPECT_EQ(body.inputs[0].top_k, 5);
}

TEST(RequestBody, AModeIsOneOfTheEndpoints) {
  EXPECT_EQ(parsed(R"({"text": "a"})", kTag).inputs[0].mode, "first");
  EXPECT_EQ(parsed(R"({"text": "a", "aggregation": "none"})", kTag).inputs[0].mode, "none");
  for (const char* wrong : {"\"last\"", "1", "null", "\"\""}) {
    EXPECT_EQ(refused(fmt::format(R"({{"text": "a", "aggregation": {}}})", wrong), kTag),
              "400 \"aggregation\" is not one of first, none");
  }
  EXPECT_EQ(refused(R"({"text": "a", "top_k": 1})", kTag),
            "400 unknown field \"top_k\"; /tag takes \"text\", \"aggregation\"");
  EXPECT_EQ(refused(R"({"text": "a", "": 1})", kClassify),
            "400 unknown field \"\"; /classify takes \"text\", \"text_pair\"");
}

TEST(RequestBody, ErrorsNameTheFieldAndTheNextStep) {
  const std::string fields = R"("question", "context", "top_k")";
  EXPECT_EQ(refused("[]"), "400 an input is array; give an object with " + fields);
  EXPECT_EQ(refused("{}"), "400 \"question\" is missing; give it a text");
  EXPECT_EQ(refused(R"({"question": "q"})"), "400 \"context\" is missing; give it a text");
  EXPECT_EQ(refused(R"({"question": 7, "context": ""})"),
            "400 \"question\" is number; give it a text in quotes");
  EXPECT_EQ(refused(R"({"question": "q", "context": "c", "topk": 1})"),
            "400 unknown field \"topk\"; /answer takes " + fields);
  EXPECT_EQ(refused(R"({"text": "q", "top_k": 1})", kClassify),
            "400 unknown field \"top_k\"; /classify takes \"text\", \"text_pair\"");
  for (const std::string top_k :
       {"0", "10", "-1", "1.5", "\"1\"", "null", "1e99", "9223372036854775808"}) {
    EXPECT_EQ(refused(R"({"question": "q", "context": "c", "top_k": )" + top_k + "}"),
              "400 \"top_k\" is not a whole number from 1 to 9")
        << top_k;
  }
}

TEST(RequestBody, LimitsAreNamed) {
  EXPECT_EQ(refused(R"({"question": "123456789012345678901", "context": "c"})"),
            "413 \"question\" has 21 bytes, more than 20; shorten it");
  const std::string input = R"({"question": "q", "context": "c"})";
  EXPECT_EQ(refused(fmt::format(R"({{"inputs": [{0}, {0}, {0}, {0}]}})", input)),
            "413 \"inputs\" has 4 entries, more than 3; send several requests");
}

TEST(RequestBody, CandidatesOfAReplyAreLimited) {
  const std::string list =
      R"({{"inputs": [{{"question": "q", "context": "c", "top_k": 9}},
                      {{"question": "q", "context": "c", "top_k": 9}},
                      {{"question": "q", "context": "c", "top_k": {}}}]}})";
  EXPECT_EQ(parsed(fmt::format(fmt::runtime(list), 2), kAnswer).inputs[2].candidates, 2);
  EXPECT_EQ(refused(fmt::format(fmt::runtime(list), 3)),
            "413 the reply would list 21 candidates, more than 20; send several requests, or ask "
            "for a smaller top_k");
  const OwnForm blanks{.path = "/fill",
                       .first_field = "text",
                       .has_top_k = true,
                       .count_candidates = [](const Input& input) { return 3 * input.top_k; }};
  EXPECT_EQ(refused(R"({"text": "a", "top_k": 6})", blanks), "taken");
  EXPECT_EQ(refused(R"({"text": "a", "top_k": 7})", blanks),
            "413 the reply would list 21 candidates, more than 20; ask for a smaller top_k");
}

TEST(RequestBody, AdviceIsWhatTheEndpointTakes) {
  OwnForm classes = kClassify;
  classes.count_candidates = [](const Input&) { return 21; };
  EXPECT_EQ(refused(R"({"inputs": [{"text": "a"}, {"text": "b"}]})", classes),
            "413 the reply would list 42 candidates, more than 20; send several requests");
}

TEST(RequestBody, TopKThatIsLeftOutIsWithinTheLimit) {
  const auto result =
      parse_request_body(R"({"question": "q", "context": "c"})", kAnswer, {.top_k = 2});
  EXPECT_EQ(result.inputs[0].top_k, 2);
}

TEST(RequestBody, ABadInputOfAListLeavesTheOthersAlone) {
  const RequestBody body =
      parsed(R"({"inputs": [{"question": "q"}, {"question": "q", "context": "c"}, 7]})", kAnswer);
  ASSERT_EQ(body.inputs.size(), 1u);
  EXPECT_EQ(body.inputs[0].second, "c");
  EXPECT_EQ(body.errors,
            (std::vector<std::string>{"\"context\" is missing; give it a text", "",
                                      "an input is number; give an object with \"question\", "
                                      "\"context\", \"top_k\""}));
}

TEST(RequestBody, ErrorsOfListsAreSaid) {
  EXPECT_EQ(refused(R"({"inputs": []})").substr(0, 43),
            "400 \"inputs\" must be a list of at least one");
  EXPECT_EQ(refused(R"({"inputs": {}})").substr(0, 43),
            "400 \"inputs\" must be a list of at least one");
  EXPECT_EQ(refused(R"({"inputs": [1], "top_k": 3})"),
            "400 \"inputs\" must be the only field; put the others into each input");
}

TEST(RequestBody, WhatIsNoJsonIsRefusedWithItsPlace) {
  EXPECT_EQ(refused("{\n  \"question\" 1}").substr(0, 40),
            "400 the body is not JSON: line 2, column");
  EXPECT_EQ(refused(std::string(65, '[')),
            "400 the body is not JSON: line 1, column 65: nested deeper than 64 levels");
  for (const std::string text :
       {"", "\xff", "{\"question\": \"\xc3\"}", "{\"a\":1,\"a\":1}", "1 2", "NaN"}) {
    EXPECT_EQ(refused(text).substr(0, 25), "400 the body is not JSON:") << text;
  }
  EXPECT_EQ(refused(std::string("\0", 1)).substr(0, 25), "400 the body is not JSON:");
}

// Cut at each byte and with each bit flipped, a body is taken or refused, and nothing else happens.
TEST(RequestBody, SurvivesDamage) {
  const std::string text = R"({"inputs": [{"question": "q", "context": "c", "top_k": 2}]})";
  for (size_t i = 0; i < text.size(); ++i) {
    EXPECT_EQ(refused(text.substr(0, i)).substr(0, 3), "400");
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = text;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      const std::string result = refused(damaged);
      EXPECT_TRUE(result == "taken" || result.starts_with("400 ")) << damaged << result;
    }
  }
}

}  // namespace
}  // namespace cloze::serve
