// A copy of an arena in the host's memory: the results of a run, all read at once, and looked at
// when they are needed. The device makes it while the host goes on.
//
//   run(...); first.take();  run(...); second.take();
//   first.scalar<float>(loss);                            waits for the first run only
#pragma once

#include <memory>
#include <span>

#include "backend/device.h"
#include "runtime/executor.h"

namespace cloze::runtime {

class ArenaCopy {
 public:
  // The executor outlives it.
  ArenaCopy(Executor& executor, plan::Arena arena);

  // Begins to copy the arena as it is after all work given so far.
  void take();
  // A value with one element, as it was taken. InternalError when nothing was, or when the value
  // lies elsewhere.
  template <typename T>
  T scalar(graph::Value value) {
    T result{};
    read(value, std::as_writable_bytes(std::span(&result, 1)));
    return result;
  }

 private:
  void read(graph::Value value, std::span<std::byte> bytes);

  Executor& executor_;
  plan::Arena arena_;
  std::unique_ptr<backend::HostBlock> block_;
  std::unique_ptr<backend::Event> taken_;  // null: nothing was
};

}  // namespace cloze::runtime
