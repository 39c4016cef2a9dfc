// The sweep: the cases of every operator at every extent of its rows, columns, depth and lengths,
// beyond twice the largest tile, panel, chunk or part of any kernel. kernel_case.h has cases of a
// few sizes, checked closely; here are all sizes. At each size every operator gets one case of the
// family (activation, bias, dropout rate, number of weights), in turn.
#pragma once

#include <functional>
#include <initializer_list>
#include <vector>

#include "backend/operator_families.h"
#include "backend/testing/kernel_case.h"

namespace cloze::backend::testing {

// How far the extents go. A backend asserts that twice its own constants are less.
inline constexpr int64_t kSweptLength = 600;         // of a sequence
inline constexpr int64_t kSweptHeadSize = 140;       // of a head of attention
inline constexpr int64_t kSweptGroupSize = 72;       // channels of a group of a convolution
inline constexpr int64_t kSweptWidth = 15;           // of a convolution's window
inline constexpr int64_t kSweptRows = 600;           // of a product, of predictions, of a tensor
inline constexpr int64_t kSweptColumns = 600;        // of a product, of a tensor
inline constexpr int64_t kSweptDepth = 600;          // of a product
inline constexpr int64_t kSweptPackedDepth = 1600;   // of a product with a packed weight
inline constexpr int64_t kSweptVocabulary = 240;     // words
inline constexpr int64_t kSweptSlicedWords = 6200;   // of a vocabulary: around multiples
inline constexpr int64_t kSweptChannels = 300;       // of embeddings and of rows that are gathered
inline constexpr int64_t kSweptGroupedDepth = 6200;  // of a gradient of a weight: around multiples
inline constexpr int64_t kSweptChunkedRows = 4200;   // summed over: around multiples
inline constexpr int64_t kSweptRowSums = 2100;       // of a row that is summed: around multiples
inline constexpr int64_t kSweptPairRows = 300;       // of a product in pairs
inline constexpr int64_t kSweptElements = 70000;     // around multiples

enum class SweepDensity { kWhole, kThin };

class SweepExtents {
 public:
  explicit SweepExtents(SweepDensity density) : density_(density) {}

  // 1 ... last; when thin, a few of them, and the neighbours of the first multiples of the units.
  std::vector<int64_t> up_to(int64_t last, std::initializer_list<int64_t> units) const;
  // The neighbours of all multiples of the units, up to last.
  static std::vector<int64_t> around(int64_t last, std::initializer_list<int64_t> units);
  bool is_thin() const { return density_ == SweepDensity::kThin; }

 private:
  SweepDensity density_;
};

// Collects one case for every operator of each family it is given, in turn.
class SweepCases {
 public:
  void add(std::vector<KernelCase> family);
  // For each size, adds the family that add_cases(family, size) fills in.
  template <class Size, class AddCases>
  void add_each(const std::vector<Size>& sizes, const AddCases& add_cases) {
    for (const Size& size : sizes) {
      std::vector<KernelCase> family;
      add_cases(family, size);
      add(std::move(family));
    }
  }
  std::vector<KernelCase> take() { return std::move(cases_); }

 private:
  std::vector<KernelCase> cases_;
  size_t turn_ = 0;
};

// Cases of operators on one parameter, at the sizes that are checked closely and at those that are
// swept; add(cases, shape) adds the family of a size.
using AddCases = std::function<void(std::vector<KernelCase>& cases, const Shape& shape)>;
std::vector<KernelCase> parameter_cases(const AddCases& add);
std::vector<KernelCase> parameter_sweep(const SweepExtents& extents, const AddCases& add);

// All of them, for activations of this dtype.
std::vector<KernelCase> sweep_cases(DType dtype, SweepDensity density);

// The cases of each family: those of kernel_cases(), and the sweep.
#define CLOZE_DECLARE_CASES(family)                    \
  std::vector<KernelCase> family##_cases(DType dtype); \
  std::vector<KernelCase> family##_sweep(DType dtype, const SweepExtents& extents);
CLOZE_OPERATOR_FAMILIES(CLOZE_DECLARE_CASES)
#undef CLOZE_DECLARE_CASES

}  // namespace cloze::backend::testing
