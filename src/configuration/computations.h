// Functions that the systems' files (system_file.h) name: each takes several keys to compute
// options of ours that words cannot say, such as the batch.
#pragma once

#include <functional>
#include <map>
#include <string>

namespace cloze::configuration {

class Conversion;

struct Computations {
  std::function<std::string(const Conversion&)> task_of;  // pretraining, SQuAD or GLUE
  std::map<std::string, std::function<void(Conversion&)>> by_name;
};

Computations tensorflow1_computations();
Computations tensorflow2_computations();
Computations mlperf_computations();
Computations habana_computations();
Computations optimum_computations();

}  // namespace cloze::configuration
