// Snapshots of an arena, in the device's memory: the host reads the results of several runs when all
// are done, so that the runs need not wait for it.
//
//   run(...); metrics.take(0);  run(...); metrics.take(1);
//   metrics.put_back(0); read(...);  metrics.put_back(1); read(...);
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
