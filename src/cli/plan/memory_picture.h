// The first picture of a report: memory over the program, launch by launch, stacked by kind.
#pragma once

#include <string>
#include <vector>

#include "plan/program_use.h"

namespace cloze::cli {

// A kind of memory: a layer of the stack.
struct MemoryBand {
  std::string name;
  std::string color;           // of CSS
  std::vector<int64_t> bytes;  // at each launch of ProgramUse::launches

  int64_t most() const;
};

// From the bottom up: what lives as long as the program by arena, activations by groups of layers,
// workspace. Kinds that take nothing are left out.
std::vector<MemoryBand> memory_bands(const plan::Program& program, const plan::ProgramUse& use);

// An <svg> element.
std::string memory_picture(const plan::Program& program, const plan::ProgramUse& use,
                           const std::vector<MemoryBand>& bands);

}  // namespace cloze::cli
