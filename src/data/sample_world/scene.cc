#include "data/sample_world/scene.h"

#include <fmt/format.h>

#include <utility>

#include "data/sample_world/words.h"

namespace cloze::data {
namespace {

template <typename T>
const T& pick(std::span<const T> items, PhiloxStream& stream) {
  return items[stream.below(static_cast<uint32_t>(items.size()))];
}

}  // namespace

Scene::Scene(const SampleFacts& facts, PhiloxStream& stream) : facts_(facts) {
  const Town& town = pick(std::span<const Town>(facts.towns), stream);
  bind_place(town);
  bind_festival(town);
  bind_resident(town.resident);
  bind_calendar(stream);
  bind_helper(town.resident.first_name, stream);
  turn(stream);
}

void Scene::turn(PhiloxStream& stream) {
  const Animal& animal = pick(animals(), stream);
  slots_["animal"] = animal.name;
  slots_["young"] = animal.young;
  slots_["sound"] = animal.sound;
  slots_["shelter"] = animal.shelter;

  const Opposite& pair = pick(opposites(), stream);
  const bool is_swapped = stream.below(2) == 1;
  slots_["pair.noun"] = pair.noun;
  slots_["pair.one"] = is_swapped ? pair.other : pair.one;
  slots_["pair.other"] = is_swapped ? pair.one : pair.other;

  const Words counts = numbers();
  const uint32_t number = stream.below(static_cast<uint32_t>(counts.size()) - 1);
  slots_["number"] = counts[number];
  slots_["next_number"] = counts[number + 1];

  bind_stall(stream);
  slots_["good"] = pick(goods(), stream);
  slots_["shade"] = pick(colours(), stream);
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
  bind_craft("", crafts()[town.craft]);
}

void Scene::bind_festival(const Town& town) {
  slots_["festival"] = town.festival;
  slots_["festival_month"] = months()[town.festival_month].name;
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
  const Town& town = pick(std::span<const Town>(facts_.towns), stream);
  slots_["stall.town"] = town.name;
  bind_craft("stall.", crafts()[town.craft]);
}

void Scene::bind_calendar(PhiloxStream& stream) {
  const auto year = months();
  const uint32_t month = stream.below(static_cast<uint32_t>(year.size()));
  slots_["month"] = year[month].name;
  slots_["season"] = year[month].season;
  slots_["sign"] = year[month].sign;
  slots_["next_month"] = year[(month + 1) % year.size()].name;

  const Words week = weekdays();
  const uint32_t day = stream.below(static_cast<uint32_t>(week.size()));
  slots_["day"] = week[day];
  slots_["next_day"] = week[(day + 1) % week.size()];
}

void Scene::bind_craft(std::string_view prefix, const Craft& craft) {
  const std::pair<std::string_view, std::string_view> parts[] = {
      {"maker", craft.maker},     {"makers", craft.makers}, {"material", craft.material},
      {"product", craft.product}, {"tool", craft.tool},     {"worked", craft.worked}};
  for (const auto& [name, word] : parts) slots_[fmt::format("{}{}", prefix, name)] = word;
}

// A friend of the resident, never a namesake.
void Scene::bind_helper(std::string_view resident_name, PhiloxStream& stream) {
  std::string_view helper = resident_name;
  while (helper == resident_name) {
    helper = pick(stream.below(2) == 0 ? girl_names() : boy_names(), stream);
  }
  slots_["helper"] = helper;
}

}  // namespace cloze::data
