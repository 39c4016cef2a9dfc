// The sum of squares of a value of numbers, in double, in their order.
#pragma once

#include "runtime/executor.h"

namespace cloze::runtime {

double sum_of_squares(Executor& executor, graph::Value value);

}  // namespace cloze::runtime
