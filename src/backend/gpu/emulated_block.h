// gpu.h on the host: a kernel's block is emulated (emulation/block.h). What it does wrong is found
// by the line of its source: each function here knows where it was called.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "backend/gpu/emulation/block.h"

#define CLOZE_GPU_TARGET emulated
#define CLOZE_DEVICE inline
#define CLOZE_UNROLL  // before a loop whose array must lie in registers

namespace cloze::backend::gpu::inline emulated {

using emulation::Block;
using emulation::Place;

inline constexpr const char* kDeviceName = "emulated";  // before the names of kernels

struct bf16 {
  uint16_t bits;
};

CLOZE_DEVICE uint32_t as_bits(float x) { return std::bit_cast<uint32_t>(x); }
CLOZE_DEVICE float as_float(uint32_t bits) { return std::bit_cast<float>(bits); }
CLOZE_DEVICE float to_float(bf16 x) { return as_float(uint32_t{x.bits} << 16); }
// To nearest, even when two are; NaN stays NaN.
CLOZE_DEVICE bf16 to_bf16(float x) {
  const uint32_t word = as_bits(x);
  const bool is_nan = (word & 0x7fffffffu) > 0x7f800000u;
  const uint32_t rounded = is_nan ? word | 0x400000u : word + 0x7fffu + ((word >> 16) & 1u);
  return {static_cast<uint16_t>(rounded >> 16)};
}

// Arithmetic. a * b + c, rounded once; the rest as its name says.
CLOZE_DEVICE float fused(float a, float b, float c) { return std::fma(a, b, c); }
CLOZE_DEVICE float larger(float a, float b) { return std::fmax(a, b); }
CLOZE_DEVICE float smaller(float a, float b) { return std::fmin(a, b); }
CLOZE_DEVICE float magnitude(float x) { return std::fabs(x); }
CLOZE_DEVICE float with_sign_of(float x, float sign) { return std::copysign(x, sign); }
CLOZE_DEVICE float square_root(float x) { return std::sqrt(x); }
CLOZE_DEVICE double square_root(double x) { return std::sqrt(x); }
CLOZE_DEVICE float logarithm(float x) { return std::log(x); }
CLOZE_DEVICE float logarithm_of_one_plus(float x) { return std::log1p(x); }

// Where the thread is.
CLOZE_DEVICE int thread() { return Block::running().thread(); }
CLOZE_DEVICE int64_t block() { return Block::running().x(); }
CLOZE_DEVICE int64_t block_y() { return Block::running().y(); }
CLOZE_DEVICE int64_t num_blocks() { return Block::running().shape().blocks_x; }

// All threads of the block, or of the warp, meet here, and see what the others have written.
CLOZE_DEVICE void sync_block(Place place = Place::current()) { Block::running().sync_block(place); }
CLOZE_DEVICE void sync_warp(Place place = Place::current()) { Block::running().sync_warp(place); }

// The x of the thread of the warp whose lane differs in the bits of the mask.
template <typename T>
CLOZE_DEVICE T shuffle_xor(T x, int mask, Place place = Place::current()) {
  const int lane = thread() % emulation::kWarpThreads;
  const Block::Slots& slots =
      Block::running().exchange(std::as_bytes(std::span<const T>(&x, 1)), place);
  std::memcpy(&x, slots[static_cast<size_t>(lane ^ mask)].data(), sizeof(T));
  return x;
}
// Bit l is the x of lane l.
CLOZE_DEVICE uint32_t ballot(bool x, Place place = Place::current()) {
  const Block::Slots& slots =
      Block::running().exchange(std::as_bytes(std::span<const bool>(&x, 1)), place);
  uint32_t bits = 0;
  for (size_t l = 0; l < slots.size(); ++l) bits |= static_cast<uint32_t>(slots[l][0]) << l;
  return bits;
}

// A tensor in the card's memory. T may be const: only read.
template <typename T>
class Global {
 public:
  using Element = std::remove_const_t<T>;

  Global() = default;
  Global(T* data, emulation::Region* region) : data_(data), region_(region) {}

  explicit operator bool() const { return data_ != nullptr; }
  T* data() const { return data_; }  // for the launcher alone
  emulation::Region* region() const { return region_; }

  // V is the element's type, or Neighbours that begin with the element.
  template <typename V = Element>
  V load(int64_t i, Place place = Place::current()) const {
    V value;
    std::memset(&value, 0xff, sizeof(V));
    if (Block::running().load(region_, i, data_ + i, sizeof(V), place)) {
      std::memcpy(&value, data_ + i, sizeof(V));
    }
    return value;
  }
  template <typename V>
  void store(int64_t i, V value, Place place = Place::current()) const {
    static_assert(!std::is_const_v<T> && sizeof(V) % sizeof(T) == 0);
    if (Block::running().store(region_, i, data_ + i, sizeof(V), place)) {
      std::memcpy(data_ + i, &value, sizeof(V));
    }
  }

 private:
  template <typename>
  friend class Cell;

  T* data_ = nullptr;
  emulation::Region* region_ = nullptr;
};

// An element of shared memory.
template <typename T>
class Cell {
 public:
  T get(Place place = Place::current()) const {
    T value;
    std::memset(&value, 0xff, sizeof(T));
    if (Block::running().load_shared(&value_, sizeof(T), place)) value = value_;
    return value;
  }
  void put(T value, Place place = Place::current()) {
    if (Block::running().store_shared(&value_, sizeof(T), place)) value_ = value;
  }
  // Begins to copy 16 bytes from element i on to this cell and the next; zeros without `is_there`.
  void begin_copy(Global<const T> from, int64_t i, bool is_there, Place place = Place::current()) {
    constexpr size_t kBytes = 16;
    Block& running = Block::running();
    const void* source = is_there ? from.data_ + i : nullptr;
    if (is_there && !running.load(from.region_, i, source, kBytes, place)) return;
    running.begin_copy(this, source, kBytes, place);
  }

 private:
  T value_;
};

template <typename Shared>
CLOZE_DEVICE Shared& shared() {
  return *reinterpret_cast<Shared*>(Block::running().shared());
}

// Two numbers as kernels keep them side by side, the first in the lower half.
CLOZE_DEVICE uint32_t bf16_pair(float first, float second) {
  return to_bf16(first).bits | uint32_t{to_bf16(second).bits} << 16;
}

// Products of matrices by a warp. Lane 4 g + t has, of each operand, these elements, by row and
// column. Source: PTX ISA, mma.m16n8k16.
//   a [16, 16]    pairs along columns, at (g, 2t), (g + 8, 2t), (g, 2t + 8), (g + 8, 2t + 8)
//   b [16, 8]     pairs along rows, at (2t, g), (2t + 8, g)
//   sums [16, 8]  (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1)
// sums += a b
void multiply_add(float (&sums)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1,
                  Place place = Place::current());

// Four matrices [8, 8] of shared memory. Lane 8 i + r gives the first cell of row r of matrix i,
// on 16 bytes; lane 4 g + t gets of matrix i, as x[i], the pair at (g, 2t), (g, 2t + 1), or, of the
// transposed matrix, that at (2t, g), (2t + 1, g).
void load_matrices(uint32_t (&x)[4], const Cell<bf16>& row, Place place = Place::current());
void load_transposed_matrices(uint32_t (&x)[4], const Cell<bf16>& row,
                              Place place = Place::current());

// The copies that the thread has begun become a group.
CLOZE_DEVICE void commit_copies() { Block::running().commit_copies(); }
// Returns when all of the thread's groups but the last `pending` have landed.
template <int pending>
CLOZE_DEVICE void wait_for_copies(Place place = Place::current()) {
  Block::running().wait_for_copies(pending, place);
}

}  // namespace cloze::backend::gpu::inline emulated
