// Snapshots of an arena, in the device's memory. The host writes the inputs of several runs in
// advance, or reads their results afterwards, so that the runs need no host between them.
//
//   write(...); inputs.take(0);  write(...); inputs.take(1);
//   inputs.put_back(0); run(...);  inputs.put_back(1); run(...);
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "backend/device.h"
#include "runtime/executor.h"

namespace cloze::runtime {

class ArenaSnapshots {
 public:
  ArenaSnapshots(Executor& executor, plan::Arena arena) : executor_(executor), arena_(arena) {}
  ArenaSnapshots(const ArenaSnapshots&) = delete;
  ArenaSnapshots& operator=(const ArenaSnapshots&) = delete;

  // Keeps the arena as it is now under this number; allocates only where the number is new.
  void take(size_t number);
  // InternalError for a number that was never taken.
  void put_back(size_t number);

 private:
  Executor& executor_;
  plan::Arena arena_;
  std::vector<std::unique_ptr<backend::DeviceMemory>> snapshots_;
};

}  // namespace cloze::runtime
