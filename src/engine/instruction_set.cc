#include "engine/instruction_set.h"

#include <span>

#include "backend/cpu/instruction_set.h"

namespace cloze::engine {
namespace {

std::vector<std::string> names_of(std::span<const backend::cpu::InstructionSet> sets) {
  std::vector<std::string> names;
  for (const auto set : sets) names.emplace_back(name_of(set));
  return names;
}

}  // namespace

std::vector<std::string> all_instruction_sets() { return names_of(backend::cpu::kInstructionSets); }

std::vector<std::string> instruction_sets() { return names_of(backend::cpu::instruction_sets()); }

std::string instruction_set() { return std::string(name_of(backend::cpu::instruction_set())); }

void limit_instruction_set(const std::string& name) {
  const auto sets = backend::cpu::instruction_sets();
  backend::cpu::limit_instruction_set(backend::cpu::instruction_set_named(name, sets));
}

}  // namespace cloze::engine
