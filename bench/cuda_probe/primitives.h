// Kernels that each use one of the words of backend/gpu/gpu.h, or one of the functions of math.h, on numbers that are
// given. primitives.cc is compiled for a card and for the emulation of one: both must give the same.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cloze::cuda_probe {

// In the memory of the device; `count` elements each, a multiple of kPrimitiveMultiple.
struct PrimitiveOperands {
  const uint32_t* a;
  const uint32_t* b;
  const uint32_t* c;
  uint64_t* y;
  int64_t count;
};
inline constexpr int64_t kPrimitiveMultiple = 128;

// How two results are compared.
enum class Compared {
  kBits,
  kFloat,   // the lower half as f32: every NaN is the same, and so are both zeros
  kDouble,  // likewise, as f64
};

struct Primitive {
  std::string name;
  Compared compared;
  uint64_t units;  // in the last place, by which results may differ
  void (*run)(const PrimitiveOperands& on);
};

namespace card {
std::vector<Primitive> primitives();
}
namespace emulated {
std::vector<Primitive> primitives();
}

}  // namespace cloze::cuda_probe
