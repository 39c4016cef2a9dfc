// Lets a test change values of a session in place.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "engine/session.h"

namespace cloze::engine {

// change(std::span<T>) alters the elements of the value of that name.
template <typename T, typename Change>
void change_values(Session& session, std::string_view name, Change change) {
  std::vector<T> values = session.read<T>(name);
  change(std::span<T>(values));
  session.write<T>(name, values);
}

}  // namespace cloze::engine
