#include "engine/instruction_set.h"

#include "backend/cpu/instruction_set.h"

namespace cloze::engine {

std::vector<std::string> instruction_sets() {
  std::vector<std::string> names;
  for (const auto set : backend::cpu::instruction_sets()) names.emplace_back(name_of(set));
  return names;
}

std::string instruction_set() { return std::string(name_of(backend::cpu::instruction_set())); }

void limit_instruction_set(const std::string& name) {
  const auto sets = backend::cpu::instruction_sets();
  backend::cpu::limit_instruction_set(backend::cpu::instruction_set_named(name, sets));
}

}  // namespace cloze::engine
