// Products of matrices by a warp (emulated_block.h).
#include "backend/gpu/emulated_block.h"

namespace cloze::backend::gpu::inline emulated {
namespace {

constexpr int kRowBytes = 16;  // of a matrix [8, 8]

// Returns what each lane of the warp has.
template <typename T>
std::array<T, emulation::kWarpThreads> of_all_lanes(const T& mine, const Place& place) {
  const Block::Slots& slots =
      Block::running().exchange(std::as_bytes(std::span<const T>(&mine, 1)), place);
  std::array<T, emulation::kWarpThreads> all;
  for (size_t l = 0; l < all.size(); ++l) std::memcpy(&all[l], slots[l].data(), sizeof(T));
  return all;
}

float half_of(uint32_t pair, int which) {
  return as_float(which == 0 ? pair << 16 : pair & 0xffff0000u);
}

struct Quad {
  uint32_t x[4];
};
struct Pair {
  uint32_t x[2];
};

struct MatrixRow {
  bf16 x[8];
};
using MatrixRows = std::array<MatrixRow, emulation::kWarpThreads>;

MatrixRows rows_of_all_lanes(const Cell<bf16>& row, const Place& place) {
  MatrixRow mine;
  std::memset(&mine, 0xff, sizeof(mine));
  if (Block::running().load_shared(&row, kRowBytes, place)) {
    std::memcpy(&mine, static_cast<const void*>(&row), sizeof(mine));
  }
  return of_all_lanes(mine, place);
}

uint32_t pair_of(bf16 first, bf16 second) { return first.bits | uint32_t{second.bits} << 16; }

}  // namespace

// Sums in double and rounds once; nobody knows in which order a card adds.
void multiply_add(float (&sums)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1, Place place) {
  const auto all_a = of_all_lanes(Quad{{a[0], a[1], a[2], a[3]}}, place);
  const auto all_b = of_all_lanes(Pair{{b0, b1}}, place);
  const int lane = thread() % emulation::kWarpThreads, g = lane / 4, t = lane % 4;
  for (int i = 0; i < 4; ++i) {
    const int column = 2 * t + i % 2;
    double sum = sums[i];
    for (int k = 0; k < 16; ++k) {
      const auto owner = static_cast<size_t>(4 * g + k % 8 / 2);
      const auto pair = static_cast<size_t>(i / 2 + 2 * (k / 8));
      const uint32_t b = all_b[static_cast<size_t>(4 * column + k % 8 / 2)].x[k / 8];
      sum += static_cast<double>(half_of(all_a[owner].x[pair], k % 2)) * half_of(b, k % 2);
    }
    sums[i] = static_cast<float>(sum);
  }
}

void load_matrices(uint32_t (&x)[4], const Cell<bf16>& row, Place place) {
  const MatrixRows rows = rows_of_all_lanes(row, place);
  const int lane = thread() % emulation::kWarpThreads, g = lane / 4, t = lane % 4;
  for (int i = 0; i < 4; ++i) {
    const MatrixRow& mine = rows[static_cast<size_t>(8 * i + g)];
    x[i] = pair_of(mine.x[2 * t], mine.x[2 * t + 1]);
  }
}

void load_transposed_matrices(uint32_t (&x)[4], const Cell<bf16>& row, Place place) {
  const MatrixRows rows = rows_of_all_lanes(row, place);
  const int lane = thread() % emulation::kWarpThreads, g = lane / 4, t = lane % 4;
  for (int i = 0; i < 4; ++i) {
    const auto first = static_cast<size_t>(8 * i + 2 * t);
    x[i] = pair_of(rows[first].x[g], rows[first + 1].x[g]);
  }
}

}  // namespace cloze::backend::gpu::inline emulated
