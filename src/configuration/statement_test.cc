#include "configuration/statement.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cloze::configuration {
namespace {

using formats::Json;

// A system without rules of its own that has one statement.
ForeignSystem system_of(const Json& statement) {
  return {
      .id = "mine",
      .name = "Mine",
      .meanings = {{"activation", "gelu", "gelu_new"}},
      .statements = {statement},
      .computations = {
          .task_of = [](const Conversion& c) { return c.text("task"); },
          .by_name = {{"double", [](Conversion& c) { c.set("a", 2 * c.count("a", 1), {"a"}); }}}}};
}

// The outcome of a statement for some keys.
struct Followed {
  Followed(const Json& statement, const Json& keys)
      : system(system_of(statement)), file(flat_values(keys)), conversion(system, file) {
    follow(statement, conversion);
  }
  Json option(const std::string& name) const { return conversion.options().value(name, Json()); }
  std::string sentence(const std::string& key) const {
    return conversion.sentences().contains(key) ? conversion.sentences().at(key) : "";
  }
  bool has_held() const { return option("held") == true; }

  ForeignSystem system;
  ForeignFile file;
  Conversion conversion;
};

bool holds(Json condition, const Json& keys) {
  condition["set"] = {{"held", true}};
  return Followed(condition, keys).has_held();
}

TEST(Statement, ItsConditionsAreOnTaskAndKeys) {
  const Json keys = {{"task", "GLUE"}, {"a", 1}, {"b", "x"}, {"c", nullptr}};
  EXPECT_TRUE(holds(Json::object(), keys));
  EXPECT_TRUE(holds({{"task", "GLUE"}}, keys));
  EXPECT_TRUE(holds({{"task", {"SQuAD", "GLUE"}}}, keys));
  EXPECT_FALSE(holds({{"task", "SQuAD"}}, keys));
  EXPECT_TRUE(holds({{"when", {{"a", 1}, {"b", {"y", "x"}}}}}, keys));
  EXPECT_FALSE(holds({{"when", {{"a", 1}, {"b", {"y", "z"}}}}}, keys));
  EXPECT_TRUE(holds({{"when", {{"d", {"x", nullptr}}}}}, keys)) << "no value is null";
  EXPECT_TRUE(holds({{"any", {{"a", 2}, {"b", "x"}}}}, keys));
  EXPECT_FALSE(holds({{"any", {{"a", 2}, {"b", "y"}}}}, keys));
  EXPECT_TRUE(holds({{"unless", {{"a", 2}, {"b", "y"}}}}, keys));
  EXPECT_FALSE(holds({{"unless", {{"a", 2}, {"b", "x"}}}}, keys));
  EXPECT_TRUE(holds({{"given", Json::array({"a", "b"})}}, keys));
  EXPECT_FALSE(holds({{"given", Json::array({"a", "c"})}}, keys)) << "null says nothing";
  EXPECT_TRUE(holds({{"left_out", Json::array({"c", "d"})}}, keys));
  EXPECT_FALSE(holds({{"left_out", Json::array({"a", "d"})}}, keys));
}

TEST(Statement, TakesTheFirstKeyWithAValue) {
  const Json statement = {{"take", {{"activation", Json::array({"a", "b"})}}}, {"how", ", there"}};
  const Followed second(statement, {{"b", "gelu"}});
  EXPECT_EQ(second.option("activation"), "gelu_new");
  EXPECT_EQ(second.sentence("b"), "activation \"gelu_new\", there");
  EXPECT_EQ(Followed(statement, {{"a", "relu"}, {"b", "gelu"}}).option("activation"), "relu");
  EXPECT_EQ(Followed(statement, {{"c", 1}}).option("activation"), Json());
}

TEST(Statement, SetsAndNegatesAndHasDefaults) {
  const Followed set({{"set", {{"size", 8}}}, {"from", Json::array({"a"})}, {"how", ", fixed"}},
                     {{"a", 1}});
  EXPECT_EQ(set.option("size"), 8);
  EXPECT_EQ(set.sentence("a"), "size 8, fixed");
  const Json switches = {
      {"negate", {{"join", "split"}}}, {"default", {{"join", true}}}, {"because", "it does"}};
  EXPECT_EQ(Followed(switches, {{"split", true}}).option("join"), false);
  EXPECT_EQ(Followed(switches, {{"split", false}}).sentence("split"), "join true");
  const Followed left_out(switches, Json::object());
  EXPECT_EQ(left_out.option("join"), true);
  EXPECT_EQ(left_out.conversion.reason_of("join"), "it does");
}

TEST(Statement, SaysRefusesAndComputes) {
  const Followed followed({{"say", {{"a", "gone"}}}, {"refuse", {{"b", "unknown there"}}}},
                          {{"a", 1}, {"b", 2}});
  EXPECT_EQ(followed.sentence("a"), "gone");
  EXPECT_EQ(followed.conversion.refused(), std::vector<std::string>{"b"});
  EXPECT_EQ(Followed({{"compute", "double"}}, {{"a", 4}}).option("a"), 8);
}

}  // namespace
}  // namespace cloze::configuration
