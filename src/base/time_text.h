// A time as people write it: "0.420 ms", "12.3 ms", "8.10 s", "6 min 15 s", "3 h 5 min", "2 d 3 h".
#pragma once

#include <string>

namespace cloze {

// Below a minute three digits, but no more than three decimals; from there the two largest units.
// "?" where the time is not known: below 0, not finite, or 1e15 s and more.
std::string time_text(double seconds);

}  // namespace cloze
