// Matmul: C = op(A) op(B) + bias by oneDNN, for machines with matrix units for bf16. The only file
// that includes dnnl.
//
// B is put into whatever layout oneDNN likes best once per run; everything a run needs is made at
// construction, and scratch memory is part of the workspace.
//
//   C[i, j] (+)= sum_k A[i, k] B[k, j] + bias[j]
//
// A is stored [m, depth], or [depth, m] when a_is_transposed; B [depth, n] or [n, depth]. Sums in
// f32. Throws EnvironmentError, with oneDNN's own words, when it refuses.
//
// Several groups are as many products of these sizes (ops/grouped_linear.h). Their activations lie
// side by side in each row, their weights one after the other: B are weights, unless A is
// transposed; then C are. B is used where it lies, which is as fast for blocks of this size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/cpu/instruction_set.h"
#include "backend/kernel.h"
#include "base/dtype.h"

namespace cloze::backend::cpu {

struct MatmulShape {
  int64_t m = 0;
  int64_t n = 0;
  int64_t depth = 0;
  int64_t groups = 1;  // of these sizes; without a bias when there are several
  bool a_is_transposed = false;
  bool b_is_transposed = false;
  DType operand_dtype = DType::kF32;  // of A and B: f32 or bf16
  DType result_dtype = DType::kF32;   // of C: f32 or bf16
  bool b_is_in_pairs = false;         // packed beforehand (ops/packed_linear.h), and used as it is
  bool has_bias = false;              // f32 [n]
  bool accumulates = false;           // adds to C
  int num_threads = 1;
};

// Rows of grouped_linear at a time (linear_native.cc).
inline constexpr int64_t kMostGroupedRows = 2048;

struct MatmulCall {
  const void* a = nullptr;
  const void* packed_b = nullptr;  // as pack() made it
  const float* bias = nullptr;
  void* c = nullptr;
  void* scratch = nullptr;  // scratch_bytes(), aligned to 64
};

class Matmul {
 public:
  explicit Matmul(const MatmulShape& shape);
  ~Matmul();
  Matmul(Matmul&&) noexcept;
  Matmul& operator=(Matmul&&) = delete;

  // What pack() writes; 0 when B is used where it lies, and then pack() returns b itself.
  size_t packed_bytes() const;
  size_t scratch_bytes() const;
  // oneDNN itself, the code that it writes for products of this shape, and this one's descriptions.
  std::vector<KeptMemory> kept_memory() const;
  const void* pack(const void* b, void* packed);
  void run(const MatmulCall& call);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// What oneDNN may use from now on. InternalError when it has made up its mind before.
void limit_matmul(InstructionSet set);

// Why products of bf16 are better done in f32 here; empty where the processor has units for them.
std::optional<std::string> refuse_native_bf16();

}  // namespace cloze::backend::cpu
