// Holds out a part of a table to score a model on that is trained on the rest.
//
// The part is stratified: each class has the same share of it, to within one row, and one row of
// each class always stays for training. Which rows is a function of the classes, their order and
// the seed alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tasks/finetuning_task.h"

namespace cloze::tasks {

// For each row, whether it is held out; about `share` (0 to 1) of them are. classes: of each row, a
// number from 0; all 0 where rows have no classes.
std::vector<bool> held_out_rows(std::span<const int64_t> classes, double share, uint64_t seed);

// A table, and how much of it was held out.
struct HeldOut {
  std::string file;
  std::string what = "rows";  // it consists of
  size_t all = 0;
  size_t held_out = 0;
  double share = 0.0;  // that was asked for
};
// Says how many were held out; UserError where none was.
void say_held_out(const HeldOut& part, const TaskOutput& output);

// Says what can be done with a table to learn from and one to score, either of which may be ""; where
// there is none to score, a share above 0 of the other is held out. UserError where nothing can.
FinetuningPhases phases_of_tables(const std::string& train_file, const std::string& dev_file,
                                  double dev_share);

}  // namespace cloze::tasks
