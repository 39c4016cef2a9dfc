// Matmul: C = A B + bias, of bf16 with sums in f32, by oneDNN. matmul.cc is the only file that
// includes dnnl.
//
//   C[i, j] (+)= sum_k A[i, k] B[k, j] + bias[j]
//
// oneDNN computes some rows at a time on the calling thread, and our threads share them out. With
// threads of its own it would have them spin for milliseconds after each product, on the processors
// that the next kernel needs. The bytes are the same for any number of threads.
//
// B is packed in pairs beforehand (backend/cpu/packed_linear.h), which is the layout oneDNN likes best. A
// grouped product (ops/grouped_linear.h) is as many products of these sizes as it has groups. Its B
// is plain, [depth, n] or transposed, group after group, which is as fast for blocks of this size;
// A and C of the groups lie side by side in each row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/cpu/instruction_set.h"
#include "backend/cpu/parallel.h"
#include "backend/kernel.h"
#include "base/dtype.h"

namespace cloze::backend::cpu {

enum class MatmulWeight { kPairs, kPlain, kPlainTransposed };

struct MatmulShape {
  int64_t m = 0;
  int64_t n = 0;
  int64_t depth = 0;
  MatmulWeight b = MatmulWeight::kPairs;
  int64_t groups = 1;                // 1 in pairs
  DType result_dtype = DType::kF32;  // of C: f32 or bf16
  bool has_bias = false;             // f32 [n]; in pairs only
  bool accumulates = false;          // adds to C
  int num_threads = 1;
};

struct MatmulCall {
  const void* a = nullptr;  // [m, groups, depth]
  const void* b = nullptr;
  const float* bias = nullptr;
  void* c = nullptr;        // [m, groups, n]
  void* scratch = nullptr;  // scratch_bytes(), aligned to 64
};

class Matmul {
 public:
  static constexpr int64_t kMostRows = 128;  // of a part

  // Throws EnvironmentError, with oneDNN's own words, when it refuses.
  explicit Matmul(const MatmulShape& shape);
  ~Matmul();
  Matmul(Matmul&&) noexcept;
  Matmul& operator=(Matmul&&) = delete;

  size_t scratch_bytes() const;  // of all threads
  // oneDNN itself, the code that it writes for products of this shape, and this one's descriptions.
  std::vector<KeptMemory> kept_memory() const;

  void run(const MatmulCall& call);

  // The same in parts, which are independent.
  int64_t num_parts() const;
  int64_t most_rows() const;  // of a part
  Part rows(int64_t part) const;
  // call.a and call.c: of the part's rows. Runs on one thread, whose number is `thread`.
  void run_part(int64_t part, int thread, const MatmulCall& call);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// What oneDNN may use from now on. InternalError when it has already fixed its choice.
void limit_matmul(InstructionSet set);

// Why oneDNN cannot multiply bf16 here at all, not even slowly: what tests of its products need.
std::optional<std::string> refuse_any_bf16();

// Why products of bf16 are better done in f32 here; empty where the processor has units for them.
std::optional<std::string> refuse_native_bf16();

}  // namespace cloze::backend::cpu
