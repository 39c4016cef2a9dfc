// Holds out a part of a table to score a model on that is trained on the rest.
//
// The part is stratified: each class has the same share of it, to within one row, and one row of
// each class always stays for training. Which rows is a function of the classes, their order and
// the seed alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace cloze::tasks {

// For each row, whether it is held out; about `share` (0 to 1) of them are. classes: of each row, a
// number from 0; all 0 where rows have no classes.
std::vector<bool> held_out_rows(std::span<const int64_t> classes, double share, uint64_t seed);

}  // namespace cloze::tasks
