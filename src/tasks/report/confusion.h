// Which classes a model takes for which: a confusion matrix as text, as a picture and as tables.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cloze::tasks {

struct Confusion {
  std::span<const std::string> names;          // of the classes, valid UTF-8
  std::span<const std::vector<int64_t>> rows;  // [label][predicted]: how many rows of the data
};

// Lines for a terminal: the predicted classes, shortened, and then a line for each label.
std::vector<std::string> confusion_lines(const Confusion& confusion);

// An <svg> element: a row for each label, a column for each prediction, the darker the larger the
// share of the label's rows; right ones in another colour. Numbers stand in the cells of few
// classes, and under the pointer in those of many.
std::string confusion_picture(const Confusion& confusion);

// The pairs of classes that are confused most often, at most `most`.
std::string confusions_table(const Confusion& confusion, size_t most);

// All numbers, to be unfolded.
std::string confusion_table(const Confusion& confusion);

}  // namespace cloze::tasks
