// Launcher (launcher.h) of the emulation: launches run in the call.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include "backend/device.h"
#include "backend/gpu/emulated_block.h"
#include "backend/gpu/emulation/seed.h"
#include "backend/gpu/launcher.h"

namespace cloze::backend::gpu::inline emulated {

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

  // InternalError that names the kernel and what it did wrong.
  void finish() const;

  const std::vector<emulation::Finding>& findings() const { return findings_.all(); }

 private:
  std::string kernel_;
  emulation::GlobalMemory memory_;
  emulation::Findings findings_;
};

}  // namespace cloze::backend::gpu::inline emulated
