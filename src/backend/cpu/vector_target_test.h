// Runs a test once for each instruction set that this machine and this build have.
#pragma once

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <cstdint>
#include <string>
#include <vector>

namespace cloze::backend::cpu {

inline std::vector<int64_t> vector_targets() {
  std::vector<int64_t> targets;
  for (int64_t rest = hwy::SupportedTargets() & HWY_TARGETS; rest != 0; rest &= rest - 1) {
    targets.push_back(rest & -rest);
  }
  return targets;
}

inline void choose_target(int64_t target) {
  hwy::SetSupportedTargetsForTest(target);  // 0: all again
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

// body() with kernels of each instruction set in turn; failures name it.
template <class Body>
void for_each_target(const Body& body) {
  for (const int64_t target : vector_targets()) {
    choose_target(target);
    SCOPED_TRACE(hwy::TargetName(target));
    body();
  }
  choose_target(0);
}

}  // namespace cloze::backend::cpu
