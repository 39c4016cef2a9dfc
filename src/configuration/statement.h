// A statement of a system's file: what several keys mean together. Its members are words:
//
//   task                   a task or a list of them; absent: any
//   when, any, unless      keys with values, or with lists of values: all of the keys have theirs,
//                          one of them has, none of them has
//   given, left_out        keys: the file gives all of them a value, or none of them
//   take                   options that take the value of a key, or of the first of several keys
//                          that has one
//   set, from              options with values; what is said of them is said of these keys
//   negate                 options that are false where a switch is true, and true where it is not
//   how                    what is said after the value of take and set
//   default, because       options with the values that they have unless the file sets them
//   say, refuse            keys with sentences; refused: the system's program refuses them, too
//   compute                the name of a function (computations.h)
#pragma once

#include <string>

#include "configuration/import.h"
#include "formats/json.h"

namespace cloze::configuration {

// Does what the statement says where its conditions hold.
void follow(const formats::Json& statement, Conversion& conversion);

// Says why this is no statement of the system, such as "no key of its rules is called steps";
// empty: it is one. JsonError for a value of the wrong kind.
std::string fault_of(const formats::Json& statement, const ForeignSystem& system);

}  // namespace cloze::configuration
