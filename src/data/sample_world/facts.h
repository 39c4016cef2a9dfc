// The facts of one sample world, drawn once from its seed: which river a town lies on, who governs
// it, what its people make. Every document and every cloze item states these and no others.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cloze::data {

struct River {
  std::string name, sea, mountain;
};

struct Province {
  std::string name;
  std::string_view crop, beast;
  int capital = 0;  // index into towns
};

struct Person {
  std::string_view first_name;
  std::string surname;  // unique
  bool is_woman = false;
  std::string_view instrument;
  std::string birth_year;
};

struct Town {
  std::string name;
  int province = 0;  // index into provinces
  int river = 0;     // index into rivers
  int craft = 0;     // row of "crafts"; no two towns have the same
  Person mayor;
  Person resident;  // of that craft; whose life the documents tell
  std::string_view landmark, festival, dish, colour;
  int festival_month = 0;  // row of "months"
  std::string founding_year;
  int neighbour = 0;                               // index into towns
  std::string_view direction, opposite_direction;  // to the neighbour, and back
};

struct SampleFacts {
  std::vector<Province> provinces;
  std::vector<River> rivers;
  std::vector<Town> towns;
};

// A function of the seed alone.
SampleFacts draw_sample_facts(uint64_t seed);

}  // namespace cloze::data
