// Tensor: a small tensor on the host whose numbers are kept as double, already rounded to the
// dtype of its type (f32, bf16, f16, f64 or i32), so that every kernel starts from the same
// numbers.
#pragma once

#include <vector>

#include "base/philox.h"
#include "graph/tensor_type.h"

namespace cloze::backend::testing {

struct Tensor {
  graph::TensorType type;
  std::vector<double> values;
};

Tensor zeros(graph::TensorType type);
Tensor floats(Shape shape, std::vector<double> values);  // f32, rounded
Tensor integers(Shape shape, std::vector<double> values);

double rounded(DType dtype, double value);
void round_to_type(Tensor& tensor);

// Bytes as a kernel sees them; the memory holds tensor.type.bytes().
void write_bytes(const Tensor& tensor, void* memory);
Tensor read_bytes(const graph::TensorType& type, const void* memory);

// The same numbers with floating types taken as f64.
graph::TensorType in_double(graph::TensorType type);
Tensor in_double(Tensor tensor);

// Random numbers of one test case.
class Random {
 public:
  explicit Random(uint64_t seed) : stream_(seed, 0) {}
  double normal();
  double uniform(double low, double high) { return low + (high - low) * stream_.uniform(); }
  int64_t below(int64_t bound) { return stream_.below(static_cast<uint32_t>(bound)); }

 private:
  PhiloxStream stream_;
};

void fill_normal(Tensor& tensor, Random& random, double deviation = 1.0);  // and round
void fill_below(Tensor& tensor, Random& random, int64_t bound);            // 0 ... bound - 1

}  // namespace cloze::backend::testing
