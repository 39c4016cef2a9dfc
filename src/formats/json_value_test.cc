#include <gtest/gtest.h>

#include <cmath>

#include "formats/json.h"

namespace cloze::formats {
namespace {

struct Counts {
  int64_t pages = 0;
  std::vector<std::string> names;
  bool operator==(const Counts&) const = default;
};
constexpr auto json_members(const Counts*) {
  return std::tuple{JsonName{"pages", &Counts::pages}, JsonName{"names", &Counts::names}};
}

std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const JsonError& error) {
    return error.what();
  }
  return "no error";
}

TEST(JsonValue, MembersKeepTheirOrderAndAreFoundAtEverySize) {
  for (int count = 0; count <= 40; ++count) {
    Json object = Json::object();
    for (int i = 0; i < count; ++i) object[std::to_string(97 * i % 41)] = i;
    ASSERT_EQ(object.size(), static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) {
      EXPECT_EQ(object.items()[static_cast<size_t>(i)].value, i);
      EXPECT_EQ(object.at(std::to_string(97 * i % 41)), i) << count;
    }
    EXPECT_FALSE(object.contains("absent"));
    for (int i = 0; i < count; i += 2) {
      EXPECT_EQ(object.erase(std::to_string(97 * i % 41)), 1u) << count;
    }
    EXPECT_EQ(object.erase("absent"), 0u);
    for (int i = 0; i < count; ++i) {
      EXPECT_EQ(object.contains(std::to_string(97 * i % 41)), i % 2 == 1) << count;
    }
    object["added"] = true;
    EXPECT_EQ(object.at("added"), true);
  }
}

TEST(JsonValue, IsReplacedByAPartOfItself) {
  Json copied = {{"a", {{"b", "a text that is not short"}}}};
  copied = copied["a"];
  copied = copied["b"];
  EXPECT_EQ(copied, Json("a text that is not short"));
  Json moved = {{"a", {{"b", "a text that is not short"}}}};
  moved = std::move(moved["a"]);
  moved = std::move(moved["b"]);
  EXPECT_EQ(moved, Json("a text that is not short"));
}

TEST(JsonValue, EqualIsWhatHasTheSameContent) {
  EXPECT_EQ((Json{{"a", 1}, {"b", 2}}), (Json{{"b", 2}, {"a", 1.0}}));
  EXPECT_NE((Json{{"a", 1}}), (Json{{"b", 1}}));
  EXPECT_NE(Json(-1), Json(UINT64_MAX));
  EXPECT_EQ(Json(INT64_MAX), Json(uint64_t{INT64_MAX}));
  EXPECT_NE(Json(1), Json(true));
  EXPECT_NE(Json(), Json(0));
  EXPECT_NE(Json("1"), Json(1));
  EXPECT_NE(Json::array({1, 2}), Json::array({2, 1}));
}

TEST(JsonValue, PairsThatBeginWithATextAreAnObject) {
  EXPECT_EQ((Json{{"a", 1}, {"b", Json::array()}}).dump(), R"({"a":1,"b":[]})");
  EXPECT_EQ((Json{{1, 2}, {"b", 3}}).dump(), R"([[1,2],["b",3]])");
  EXPECT_EQ(Json::array({{"a", 1}}).dump(), R"([["a",1]])");
  EXPECT_EQ(Json(std::vector<bool>{true, false}).dump(), "[true,false]");
  EXPECT_EQ(Json(std::map<std::string, double>{{"x", 0.5}}).dump(), R"({"x":0.5})");
}

TEST(JsonValue, TextOfEachKind) {
  EXPECT_EQ(Json(UINT64_MAX).dump(), "18446744073709551615");
  EXPECT_EQ(Json(INT64_MIN).dump(), "-9223372036854775808");
  EXPECT_EQ(Json(0.1).dump(), "0.1");
  EXPECT_EQ(Json(3.0).dump(), "3.0");
  EXPECT_EQ(Json(std::nan("")).dump(), "null");
  EXPECT_EQ(Json("a\"\n\xff").dump(), "\"a\\\"\\n\xef\xbf\xbd\"");
  EXPECT_EQ((Json{{"a", Json::array({1, Json::object()})}}).dump(2),
            "{\n  \"a\": [\n    1,\n    {}\n  ]\n}");
}

TEST(JsonValue, StructsByTheNamesOfTheirMembers) {
  const Counts counts{.pages = 3, .names = {"a", "b"}};
  EXPECT_EQ(Json(counts).dump(), R"({"pages":3,"names":["a","b"]})");
  EXPECT_EQ(Json(counts).get<Counts>(), counts);
  EXPECT_EQ(refusal([] { Json{{"pages", 1}}.get<Counts>(); }), "\"names\" is missing");
}

TEST(JsonValue, ErrorsSayWhatIsThereAndWhatIsWanted) {
  const Json object = {{"a", "text"}};
  EXPECT_EQ(refusal([&] { object.at("b"); }), "\"b\" is missing");
  EXPECT_EQ(refusal([&] { object["b"]; }), "\"b\" is missing");
  EXPECT_EQ(refusal([&] { object.at("a").get<int>(); }), "the value is string, not a number");
  EXPECT_EQ(refusal([&] { object.at("a").get<bool>(); }), "the value is string, not true or false");
  EXPECT_EQ(refusal([&] { object.begin(); }), "the value is object, not an array");
  EXPECT_EQ(refusal([&] { Json(3).items(); }), "the value is number, not an object");
  EXPECT_EQ(refusal([&] { Json::array({1}).at(1); }), "there is no item 1 of 1");
  EXPECT_EQ(refusal([&] { Json().get<std::string>(); }), "the value is null, not a text");
  EXPECT_EQ(object.find("b"), nullptr);
  EXPECT_EQ(Json(3).find("b"), nullptr);
  EXPECT_TRUE(Json().items().empty());
}

}  // namespace
}  // namespace cloze::formats
