// Systems as files, systems/*.yml, which the build puts into the program: YAML that says of every
// key what becomes of it here. A file has
//
//   id, name     ForeignSystem's
//   marks        keys that tell a file of the system
//   defaults     options of ours that a file leaves out, with their values there
//   meanings     by option, values there that have another name here
//   constants    what the system's computations read
//   groups       with a heading of the document, perhaps a task, and rules
//   shared       rules that several groups have, which name them by `shared`
//   statements   what several keys mean together, in order (statement.h)
//
// A rule is a word for what becomes of its keys:
//
//   supported    the same name and meaning
//   renamed      each has an option's name beside it; perhaps with a note
//   noted        the meaning lies elsewhere, or a statement takes it; with a note that says where
//   ignored      no effect, because ...
//   refused      an error, because ...
//   planned      not here yet, because ...
//
// A key that is noted or ignored may have a value, as_here, that asks for what is done anyway.
#pragma once

#include <string>
#include <string_view>

#include "configuration/foreign_system.h"

namespace cloze::configuration {

// InternalError that names the file, and the key or the row: for a word that is none of these, a
// key with two rules or without a reason, a statement on an unknown key, a computation that is not
// there or that no statement names.
ForeignSystem read_system(const std::string& file, std::string_view text,
                          const Computations& computations);

}  // namespace cloze::configuration
