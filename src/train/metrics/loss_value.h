// What came of one term of the loss in a step.
#pragma once

#include <optional>
#include <string>

namespace cloze::train {

struct LossValue {
  std::string name;                // "mlm", "nsp", "span" ...: models/bert_heads.h
  double loss = 0.0;               // mean over the step's predictions or sequences
  std::optional<double> accuracy;  // share in [0, 1], where right and wrong mean something
};

}  // namespace cloze::train
