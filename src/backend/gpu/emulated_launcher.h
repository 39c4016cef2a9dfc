// Launcher (launcher.h) of the emulation: launches run in the call.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include "backend/device.h"
#include "backend/gpu/emulated_block.h"
#include "backend/gpu/emulation/product.h"
#include "backend/gpu/emulation/seed.h"
#include "backend/gpu/launcher.h"

namespace cloze::backend::gpu::inline emulated {

inline constexpr int64_t kProductBytes = 0;  // of the workspace, for a product

class Launcher {
 public:
  // The kernel's name is for messages. The stream's earlier work must be done.
  Launcher(std::string_view kernel, Stream&) : kernel_(kernel) {}

  // T is const where kernels only read it. Null data: a tensor that is not there.
  template <typename T>
  Global<T> tensor(std::string name, T* data, int64_t elements) {
    if (data == nullptr) return {};
    return {data, &memory_.add(std::move(name), {data, elements, sizeof(T), !std::is_const_v<T>})};
  }

  template <typename K>
  void launch(const Grid& grid, const typename K::Arguments& arguments) {
    memory_.begin_launch();
    const emulation::LaunchOptions options{emulation::draw_seed(), emulation::counted_accesses()};
    emulation::run_grid({grid.x, grid.y, K::kThreads, shared_bytes<K>()}, options, findings_,
                        [&] { K::run(arguments); });
  }

  template <typename T, typename C>
  void multiply(const Product& product, const Matrices<T, C>& of, DeviceAddress,
                const Place& place) {
    memory_.begin_launch();
    emulation::multiply(product, {operand(of.a), operand(of.b), operand(of.c)}, place, findings_);
  }

  // InternalError that names the kernel and what it did wrong.
  void finish() const;

  const std::vector<emulation::Finding>& findings() const { return findings_.all(); }

 private:
  template <typename T>
  static emulation::Operand operand(const Matrix<T>& matrix) {
    return {matrix.tensor.data(), matrix.tensor.region(), matrix.first};
  }

  std::string kernel_;
  emulation::GlobalMemory memory_;
  emulation::Findings findings_;
};

}  // namespace cloze::backend::gpu::inline emulated
