// gpu.h on a card, by nvcc. emulated_block.h says what each function means.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#define CLOZE_GPU_TARGET card
#define CLOZE_DEVICE __device__ __forceinline__
#define CLOZE_UNROLL _Pragma("unroll")

namespace cloze::backend::gpu::inline card {

inline constexpr const char* kDeviceName = "cuda";

struct bf16 {
  uint16_t bits;
};

CLOZE_DEVICE uint32_t as_bits(float x) { return __float_as_uint(x); }
CLOZE_DEVICE float as_float(uint32_t bits) { return __uint_as_float(bits); }
CLOZE_DEVICE float to_float(bf16 x) { return as_float(uint32_t{x.bits} << 16); }
CLOZE_DEVICE bf16 to_bf16(float x) {
  bf16 rounded;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(rounded.bits) : "f"(x));
  return rounded;
}

CLOZE_DEVICE float fused(float a, float b, float c) { return __fmaf_rn(a, b, c); }
CLOZE_DEVICE float larger(float a, float b) { return fmaxf(a, b); }
CLOZE_DEVICE float smaller(float a, float b) { return fminf(a, b); }
CLOZE_DEVICE float magnitude(float x) { return fabsf(x); }
CLOZE_DEVICE float with_sign_of(float x, float sign) { return copysignf(x, sign); }
CLOZE_DEVICE float square_root(float x) { return __fsqrt_rn(x); }
CLOZE_DEVICE double square_root(double x) { return __dsqrt_rn(x); }
CLOZE_DEVICE float logarithm(float x) { return logf(x); }
CLOZE_DEVICE float logarithm_of_one_plus(float x) { return log1pf(x); }

CLOZE_DEVICE int thread() { return static_cast<int>(threadIdx.x); }
CLOZE_DEVICE int64_t block() { return blockIdx.x; }
CLOZE_DEVICE int64_t block_y() { return blockIdx.y; }
CLOZE_DEVICE int64_t num_blocks() { return gridDim.x; }

CLOZE_DEVICE void sync_block() { __syncthreads(); }
CLOZE_DEVICE void sync_warp() { __syncwarp(); }

template <typename T>
CLOZE_DEVICE T shuffle_xor(T x, int mask) {
  return __shfl_xor_sync(0xffffffffu, x, mask);
}
CLOZE_DEVICE uint32_t ballot(bool x) { return __ballot_sync(0xffffffffu, x); }

template <typename T>
class Global {
 public:
  using Element = std::remove_const_t<T>;

  Global() = default;
  explicit Global(T* data) : data_(data) {}

  __host__ CLOZE_DEVICE explicit operator bool() const { return data_ != nullptr; }
  T* data() const { return data_; }

  template <typename V = Element>
  CLOZE_DEVICE V load(int64_t i) const {
    return *reinterpret_cast<const V*>(data_ + i);
  }
  template <typename V>
  CLOZE_DEVICE void store(int64_t i, V value) const {
    *reinterpret_cast<V*>(data_ + i) = value;
  }

 private:
  template <typename>
  friend class Cell;

  T* data_ = nullptr;
};

template <typename T>
class Cell {
 public:
  CLOZE_DEVICE T get() const { return value_; }
  CLOZE_DEVICE void put(T value) { value_ = value; }
  CLOZE_DEVICE void begin_copy(Global<const T> from, int64_t i, bool is_there) {
    const auto to = static_cast<uint32_t>(__cvta_generic_to_shared(this));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from.data_ + i),
                 "r"(is_there ? 16 : 0)
                 : "memory");
  }

 private:
  T value_;
};

template <typename Shared>
CLOZE_DEVICE Shared& shared() {
  extern __shared__ __align__(1024) unsigned char memory[];
  return *reinterpret_cast<Shared*>(memory);
}

CLOZE_DEVICE uint32_t bf16_pair(float first, float second) {
  uint32_t pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  return pair;
}

CLOZE_DEVICE void multiply_add(float (&sums)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

CLOZE_DEVICE void load_matrices(uint32_t (&x)[4], const Cell<bf16>& row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
               : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(&row)))
               : "memory");
}
CLOZE_DEVICE void load_transposed_matrices(uint32_t (&x)[4], const Cell<bf16>& row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
               : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(&row)))
               : "memory");
}

CLOZE_DEVICE void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int pending>
CLOZE_DEVICE void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

}  // namespace cloze::backend::gpu::inline card
