// The sample world's word lists: what is true in every world. Which town has which craft, river or
// festival is drawn per seed (facts.h); that potters work clay is not.
// All entries are single words, so that each can be the answer of a cloze item.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cloze::data {

// "The potter shaped the clay with a wheel and sold bowls."
struct Craft {
  std::string_view maker, makers, material, product, tool, worked;
};

// "The mare and her foal neighed in the stable."
struct Animal {
  std::string_view name, young, sound, shelter;
};

// "The first road was long, the second was short."
struct Opposite {
  std::string_view noun, one, other;
};

// "In January the winter brings snow."
struct Month {
  std::string_view name, season, sign;
};

// Two halves that name things: any start goes with any end.
struct NameParts {
  std::span<const std::string_view> starts, ends;
};

using Words = std::span<const std::string_view>;

std::span<const Craft> crafts();
std::span<const Animal> animals();
std::span<const Opposite> opposites();
std::span<const Month> months();  // January first

Words weekdays();  // Monday first
Words numbers();   // two, three, ... twelve
Words colours();
Words landmarks();
Words festivals();  // what a festival is named after, plural
Words dishes();     // plural
Words crops();      // plural or uncountable
Words beasts();     // heraldic
Words instruments();
Words goods();  // singular, things one can carry
Words girl_names();
Words boy_names();

NameParts town_names();
NameParts province_names();
NameParts river_names();
NameParts sea_names();
NameParts mountain_names();
NameParts surnames();

std::vector<std::string> all_names(NameParts parts);

}  // namespace cloze::data
