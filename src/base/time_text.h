// A time as people write it: "0.42 ms", "12.3 ms", "8.1 s", "6 min 15 s", "3 h 5 min", "2 d 3 h".
#pragma once

#include <string>

namespace cloze {

// Three digits below a minute; from there the two largest units. "?" where it is not known: below 0,
// or not finite.
std::string time_text(double seconds);

}  // namespace cloze
