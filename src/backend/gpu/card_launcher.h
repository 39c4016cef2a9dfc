// Launcher (launcher.h) of a card, by nvcc.
#pragma once

#include <source_location>
#include <string>
#include <string_view>

#include "backend/gpu/card.h"
#include "backend/gpu/card_block.h"
#include "backend/gpu/launcher.h"

namespace cloze::backend::gpu::inline card {

inline constexpr int64_t kProductBytes = kCardProductBytes;

// One block on a multiprocessor is enough: with more in mind ptxas spills.
template <typename K>
__global__ void __launch_bounds__(K::kThreads, 1)
    run(const __grid_constant__ typename K::Arguments arguments) {
  K::run(arguments);
}

class Launcher {
 public:
  Launcher(std::string_view kernel, Stream& stream) : kernel_(kernel), stream_(stream) {}

  template <typename T>
  Global<T> tensor(const std::string&, T* data, int64_t) {
    return Global<T>(data);
  }

  template <typename K>
  void launch(const Grid& grid, const typename K::Arguments& arguments) {
    static_assert(shared_bytes<K>() <= 48 << 10, "more than a block gets without asking for it");
    const dim3 blocks(static_cast<uint32_t>(grid.x), static_cast<uint32_t>(grid.y));
    run<K><<<blocks, K::kThreads, shared_bytes<K>(), stream_of(stream_)>>>(arguments);
    check_launch(kernel_, cudaGetLastError());
  }

  template <typename T, typename C>
  void multiply(const Product& product, const Matrices<T, C>& of, DeviceAddress workspace,
                const std::source_location&) {
    run_on_card(product,
                {of.a.tensor.data() + of.a.first, of.b.tensor.data() + of.b.first,
                 of.c.tensor.data() + of.c.first},
                workspace, stream_);
  }

  void finish() const {}

 private:
  std::string_view kernel_;
  Stream& stream_;
};

}  // namespace cloze::backend::gpu::inline card
