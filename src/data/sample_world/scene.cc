#include "data/sample_world/scene.h"

#include <fmt/format.h>

#include <utility>

namespace cloze::data {

Scene::Scene(const SampleFacts& facts, PhiloxStream& stream) : facts_(facts) {
  const Town& town = pick(facts.towns, stream);
  bind_place(town);
  bind_festival(town);
  bind_resident(town.resident);
  bind_calendar(stream);
  bind_helper(town.resident.first_name, stream);
  turn(stream);
}

void Scene::turn(PhiloxStream& stream) {
  bind("", pick(rows("animals"), stream));
  bind("pair.", pick(rows("opposites"), stream));
  if (stream.below(2) == 1) std::swap(slots_["pair.one"], slots_["pair.other"]);

  const Words& counts = words("numbers");
  const uint32_t number = stream.below(static_cast<uint32_t>(counts.size()) - 1);
  slots_["number"] = counts[number];
  slots_["next_number"] = counts[number + 1];

  bind_stall(stream);
  slots_["good"] = pick(words("goods"), stream);
  slots_["shade"] = pick(words("colours"), stream);
}

void Scene::bind(std::string_view prefix, const Row& row) {
  for (const auto& [column, word] : row) slots_[fmt::format("{}{}", prefix, column)] = word;
}

void Scene::bind_place(const Town& town) {
  const Province& province = facts_.provinces[town.province];
  const River& river = facts_.rivers[town.river];
  slots_["town"] = town.name;
  slots_["province"] = province.name;
  slots_["capital"] = facts_.towns[province.capital].name;
  slots_["crop"] = province.crop;
  slots_["beast"] = province.beast;
  slots_["river"] = river.name;
  slots_["sea"] = river.sea;
  slots_["mountain"] = river.mountain;
  slots_["landmark"] = town.landmark;
  slots_["mayor_first"] = town.mayor.first_name;
  slots_["mayor"] = town.mayor.surname;
  slots_["year"] = town.founding_year;
  slots_["dish"] = town.dish;
  slots_["colour"] = town.colour;
  slots_["neighbour"] = facts_.towns[town.neighbour].name;
  slots_["direction"] = town.direction;
  slots_["back"] = town.opposite_direction;
  bind("", rows("crafts")[town.craft]);
}

void Scene::bind_festival(const Town& town) {
  slots_["festival"] = town.festival;
  slots_["festival_month"] = rows("months")[town.festival_month].at("month");
}

void Scene::bind_resident(const Person& person) {
  const bool is_woman = person.is_woman;
  slots_["first"] = person.first_name;
  slots_["surname"] = person.surname;
  slots_["birth_year"] = person.birth_year;
  slots_["instrument"] = person.instrument;
  slots_["he"] = is_woman ? "she" : "he";
  slots_["his"] = is_woman ? "her" : "his";
  slots_["himself"] = is_woman ? "herself" : "himself";
  slots_["spouse"] = is_woman ? "husband" : "wife";
  slots_["child"] = is_woman ? "girl" : "boy";
}

// Someone who came to the market, with the craft of the town they came from.
void Scene::bind_stall(PhiloxStream& stream) {
  const Town& town = pick(facts_.towns, stream);
  slots_["stall.town"] = town.name;
  bind("stall.", rows("crafts")[town.craft]);
}

void Scene::bind_calendar(PhiloxStream& stream) {
  const std::vector<Row>& year = rows("months");
  const uint32_t month = stream.below(static_cast<uint32_t>(year.size()));
  bind("", year[month]);
  slots_["next_month"] = year[(month + 1) % year.size()].at("month");

  const Words& week = words("weekdays");
  const uint32_t day = stream.below(static_cast<uint32_t>(week.size()));
  slots_["day"] = week[day];
  slots_["next_day"] = week[(day + 1) % week.size()];
}

// A friend of the resident, never a namesake.
void Scene::bind_helper(std::string_view resident_name, PhiloxStream& stream) {
  std::string_view helper = resident_name;
  while (helper == resident_name) {
    helper = pick(words(stream.below(2) == 0 ? "girl_names" : "boy_names"), stream);
  }
  slots_["helper"] = helper;
}

}  // namespace cloze::data
