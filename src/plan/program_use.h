// Tells what a program does to memory, launch by launch, before it runs: the bytes that each launch
// reads and writes, and the activations that are alive while it runs. For `cloze plan` and its
// report.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/program.h"

namespace cloze::plan {

struct LaunchUse {
  const graph::Node* node = nullptr;
  const Launch* launch = nullptr;
  // Bytes of whole tensors. Of a table whose rows are picked by indices, only the picked rows
  // count. An output that accumulates is both read and written.
  int64_t bytes_read = 0;
  int64_t bytes_written = 0;
  // Alive: [0] made outside the layers, [1 + i] in layer i of the encoder, forward or backward.
  std::vector<int64_t> activation_bytes;
  int64_t workspace_bytes = 0;

  // Activations and workspace together: what this launch needs in addition to always_bytes.
  int64_t temporary_bytes() const;
};

// Points into the program, which has to stay where it is.
struct ProgramUse {
  std::vector<LaunchUse> launches;          // phase by phase, in the order in which they run
  size_t peak = 0;                          // the launch with the most temporary bytes
  std::vector<graph::Value> alive_at_peak;  // activations, the largest first
  int64_t always_bytes = 0;  // parameters, gradients and all else that lives as long as the program
};

ProgramUse use_of(const Program& program);

}  // namespace cloze::plan
