#include "data/sample_world/facts.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace cloze::data {
namespace {

TEST(Facts, AreAFunctionOfTheSeed) {
  const SampleFacts one = draw_sample_facts(7), same = draw_sample_facts(7);
  const SampleFacts other = draw_sample_facts(8);
  int num_differences = 0;
  for (size_t i = 0; i < one.towns.size(); ++i) {
    EXPECT_EQ(one.towns[i].name, same.towns[i].name);
    EXPECT_EQ(one.towns[i].mayor.surname, same.towns[i].mayor.surname);
    EXPECT_EQ(one.towns[i].festival, same.towns[i].festival);
    num_differences += one.towns[i].name != other.towns[i].name;
  }
  EXPECT_GT(num_differences, 8);
}

TEST(Facts, NamesAreUniqueAcrossTheWorld) {
  const SampleFacts facts = draw_sample_facts(1);
  std::set<std::string> names;
  const auto add = [&](const std::string& name) { EXPECT_TRUE(names.insert(name).second) << name; };
  for (const Province& province : facts.provinces) add(province.name);
  for (const River& river : facts.rivers) add(river.name);
  for (const Town& town : facts.towns) {
    add(town.name);
    add(town.mayor.surname);
    add(town.resident.surname);
  }
  EXPECT_EQ(names.size(), 4u + 5u + 3u * 10u);
}

TEST(Facts, CapitalsLieInTheirProvince) {
  const SampleFacts facts = draw_sample_facts(3);
  for (size_t i = 0; i < facts.provinces.size(); ++i) {
    EXPECT_EQ(facts.towns[facts.provinces[i].capital].province, static_cast<int>(i));
  }
}

TEST(Facts, NoTwoTownsAreEachOthersNeighbour) {
  const SampleFacts facts = draw_sample_facts(3);
  for (size_t i = 0; i < facts.towns.size(); ++i) {
    const int neighbour = facts.towns[i].neighbour;
    EXPECT_NE(neighbour, static_cast<int>(i));
    EXPECT_NE(facts.towns[neighbour].neighbour, static_cast<int>(i));
  }
}

// Then every word of a craft, and every landmark, dish and festival, tells the town.
TEST(Facts, NoTwoTownsShareWhatTheyAreKnownFor) {
  std::set<int> crafts;
  std::set<std::string_view> landmarks, festivals, dishes, colours, instruments;
  const SampleFacts facts = draw_sample_facts(6);
  for (const Town& town : facts.towns) {
    EXPECT_TRUE(crafts.insert(town.craft).second) << town.name;
    EXPECT_TRUE(landmarks.insert(town.landmark).second) << town.name;
    EXPECT_TRUE(festivals.insert(town.festival).second) << town.name;
    EXPECT_TRUE(dishes.insert(town.dish).second) << town.name;
    EXPECT_TRUE(colours.insert(town.colour).second) << town.name;
    EXPECT_TRUE(instruments.insert(town.resident.instrument).second) << town.name;
  }
}

TEST(Facts, AnswersAreSpreadEvenly) {
  std::map<int, int> towns_of_province;
  for (const Town& town : draw_sample_facts(5).towns) ++towns_of_province[town.province];
  for (const auto& [province, count] : towns_of_province) {
    EXPECT_GE(count, 2) << province;
    EXPECT_LE(count, 3) << province;
  }
}

}  // namespace
}  // namespace cloze::data
