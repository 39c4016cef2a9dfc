#include "data/sample_world/facts.h"

#include <fmt/format.h>

#include <array>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/philox.h"
#include "data/sample_world/world_data.h"
#include "data/shuffle.h"

namespace cloze::data {
namespace {

constexpr uint64_t kFactsStream = 0;
constexpr int kNumTowns = 10;
constexpr int kNumProvinces = 4;
constexpr int kNumRivers = 5;

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kDirections{
    {{"north", "south"}, {"south", "north"}, {"east", "west"}, {"west", "east"}}};

class FactsDrawer {
 public:
  explicit FactsDrawer(uint64_t seed) : stream_(seed, kFactsStream) {}

  SampleFacts draw() {
    SampleFacts facts;
    facts.provinces = draw_provinces();
    facts.rivers = draw_rivers();
    facts.towns = draw_towns();
    return facts;
  }

 private:
  std::vector<std::string> draw_names(std::string_view list, int count) {
    std::vector<std::string> names = words(list);
    CLOZE_CHECK(names.size() >= static_cast<size_t>(count), "only {} names", names.size());
    shuffle(names, stream_);
    names.resize(count);
    return names;
  }

  // Indices below `bound` in random order, each as often as any other (give or take one).
  std::vector<int> deal(int count, size_t bound) {
    std::vector<int> hand;
    while (hand.size() < static_cast<size_t>(count)) {
      std::vector<int> round(bound);
      std::iota(round.begin(), round.end(), 0);
      shuffle(round, stream_);
      hand.insert(hand.end(), round.begin(), round.end());
    }
    hand.resize(count);
    return hand;
  }

  std::vector<Province> draw_provinces() {
    std::vector<Province> provinces;
    const auto crop = deal(kNumProvinces, words("crops").size());
    const auto beast = deal(kNumProvinces, words("beasts").size());
    for (std::string& name : draw_names("province_names", kNumProvinces)) {
      const size_t i = provinces.size();
      provinces.push_back(
          {std::move(name), words("crops")[crop[i]], words("beasts")[beast[i]], -1});
    }
    return provinces;
  }

  std::vector<River> draw_rivers() {
    const auto seas = draw_names("sea_names", 4);
    const auto mountains = draw_names("mountain_names", 6);
    const auto sea = deal(kNumRivers, seas.size());
    const auto mountain = deal(kNumRivers, mountains.size());
    std::vector<River> rivers;
    for (std::string& name : draw_names("river_names", kNumRivers)) {
      const size_t i = rivers.size();
      rivers.push_back({std::move(name), seas[sea[i]], mountains[mountain[i]]});
    }
    return rivers;
  }

  std::vector<Person> draw_people(int count) {
    const auto instrument = deal(count, words("instruments").size());
    const auto birth = deal(count, 80);
    std::vector<Person> people;
    for (std::string& surname : draw_names("surnames", count)) {
      const size_t i = people.size();
      const bool is_woman = i % 2 == 0;
      people.push_back({.first_name = pick(words(is_woman ? "girl_names" : "boy_names"), stream_),
                        .surname = std::move(surname),
                        .is_woman = is_woman,
                        .instrument = words("instruments")[instrument[i]],
                        .birth_year = fmt::format("{}", 1700 + birth[i])});
    }
    return people;
  }

  void settle(std::vector<Town>& towns) {
    std::vector<Person> people = draw_people(2 * kNumTowns);
    for (int i = 0; i < kNumTowns; ++i) {
      towns[i].resident = std::move(people[i]);
      towns[i].mayor = std::move(people[kNumTowns + i]);
    }
  }

  std::vector<Town> draw_towns() {
    const auto names = draw_names("town_names", kNumTowns);
    const auto province = deal(kNumTowns, kNumProvinces);
    const auto river = deal(kNumTowns, kNumRivers);
    const auto craft = deal(kNumTowns, rows("crafts").size());
    const auto landmark = deal(kNumTowns, words("landmarks").size());
    const auto festival = deal(kNumTowns, words("festivals").size());
    const auto dish = deal(kNumTowns, words("dishes").size());
    const auto colour = deal(kNumTowns, words("colours").size());
    const auto month = deal(kNumTowns, rows("months").size());
    const auto decade = deal(kNumTowns, kNumTowns);
    const auto direction = deal(kNumTowns, kDirections.size());
    std::vector<Town> towns(kNumTowns);
    for (int i = 0; i < kNumTowns; ++i) {
      towns[i] = {.name = names[i],
                  .province = province[i],
                  .river = river[i],
                  .craft = craft[i],
                  .landmark = words("landmarks")[landmark[i]],
                  .festival = words("festivals")[festival[i]],
                  .dish = words("dishes")[dish[i]],
                  .colour = words("colours")[colour[i]],
                  .festival_month = month[i],
                  .founding_year = fmt::format("{}", 1100 + 10 * decade[i]),
                  // A ring, so that no two towns ever contradict each other about the way.
                  .neighbour = (i + 1) % kNumTowns,
                  .direction = kDirections[direction[i]].first,
                  .opposite_direction = kDirections[direction[i]].second};
    }
    settle(towns);
    return towns;
  }

  PhiloxStream stream_;
};

void choose_capitals(SampleFacts& facts) {
  for (int i = static_cast<int>(facts.towns.size()) - 1; i >= 0; --i) {
    facts.provinces[facts.towns[i].province].capital = i;
  }
}

}  // namespace

SampleFacts draw_sample_facts(uint64_t seed) {
  SampleFacts facts = FactsDrawer(seed).draw();
  choose_capitals(facts);
  return facts;
}

}  // namespace cloze::data
