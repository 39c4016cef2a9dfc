// Dataset: samples by number, whatever they come from. Reading is a function of the number alone
// and may be called from several threads at once.
#pragma once

#include <cstdint>

#include "data/sample.h"

namespace cloze::data {

class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual int64_t size() const = 0;
  virtual Sample sample(int64_t index) const = 0;  // 0 <= index < size()
};

}  // namespace cloze::data
