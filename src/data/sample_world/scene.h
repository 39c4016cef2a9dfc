// What a document is about: one town, one of its people, a day and a month; as slots for the
// grammar (grammar.h). Slots of the scene hold for the whole document; passing ones (an
// animal, a stall on the market, a thing someone carries) are drawn anew by turn().
#pragma once

#include <string_view>

#include "base/philox.h"
#include "data/sample_world/facts.h"
#include "data/sample_world/grammar.h"
#include "data/sample_world/world_data.h"

namespace cloze::data {

class Scene {
 public:
  // Draws a scene from the world. Keeps views into the facts, which must outlive it.
  Scene(const SampleFacts& facts, PhiloxStream& stream);

  void turn(PhiloxStream& stream);
  const Slots& slots() const { return slots_; }

 private:
  // Each column of the row as a slot: its name after the prefix.
  void bind(std::string_view prefix, const Row& row);
  void bind_place(const Town& town);
  void bind_festival(const Town& town);
  void bind_resident(const Person& person);
  void bind_stall(PhiloxStream& stream);
  void bind_calendar(PhiloxStream& stream);
  void bind_helper(std::string_view resident_name, PhiloxStream& stream);

  const SampleFacts& facts_;
  Slots slots_;
};

}  // namespace cloze::data
