#include "backend/cpu/instruction_set.h"

#include <fmt/format.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <string>

#include "backend/cpu/native/matmul.h"
#include "base/error.h"
#include "platform/processor.h"

namespace cloze::backend::cpu {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"avx2", "avx512", "avx512_bf16", "amx"};

std::atomic<InstructionSet> limit{InstructionSet::kAmx};

bool is_present(InstructionSet set) {
  const std::vector<std::string> features = platform::processor_features();
  const auto has = [&](const char* feature) { return std::ranges::count(features, feature) > 0; };
  switch (set) {
    case InstructionSet::kAvx2:
      return true;
    case InstructionSet::kAvx512:
      return (hwy::SupportedTargets() & HWY_AVX3) != 0;
    case InstructionSet::kAvx512Bf16:
      return has("avx512bf16");
    case InstructionSet::kAmx:
      return platform::request_tiles();
  }
  return false;
}

// Highway's targets beyond a set.
int64_t targets_beyond(InstructionSet set) {
  if (set == InstructionSet::kAvx2) return HWY_AVX3 | HWY_AVX3_DL;
  return set == InstructionSet::kAvx512 ? HWY_AVX3_DL : 0;
}

std::vector<InstructionSet> find_sets() {
  std::vector<InstructionSet> sets;
  for (const InstructionSet set : kInstructionSets) {
    if (!is_present(set)) break;
    sets.push_back(set);
  }
  return sets;
}

}  // namespace

std::string_view name_of(InstructionSet set) { return kNames[static_cast<size_t>(set)]; }

std::vector<InstructionSet> instruction_sets() {
  static const std::vector<InstructionSet> sets = find_sets();
  return sets;
}

InstructionSet instruction_set_named(std::string_view name, std::span<const InstructionSet> sets) {
  std::vector<std::string_view> names;
  for (const InstructionSet set : sets) {
    if (name_of(set) == name) return set;
    names.push_back(name_of(set));
  }
  throw_user_error("instruction set {} is not available on this machine; it has {}", name,
                   fmt::join(names, ", "));
}

void limit_instruction_set(InstructionSet set) {
  if (set == instruction_set()) return;
  limit_matmul(set);
  hwy::DisableTargets(targets_beyond(set));
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  limit = set;
}

InstructionSet instruction_set() { return std::min(instruction_sets().back(), limit.load()); }

}  // namespace cloze::backend::cpu
