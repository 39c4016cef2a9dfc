#include "cli/options/machine_options.h"

#include "engine/devices.h"
#include "engine/instruction_set.h"

namespace cloze::cli {

Option device_option(std::string& device) {
  return {"device",
          &device,
          "Device that computes",
          {.choices = engine::device_names(), .choices_of_tests = engine::test_device_names()}};
}

Option instruction_set_option(std::string& instruction_set) {
  std::vector<std::string> choices = engine::all_instruction_sets();
  choices.insert(choices.begin(), kAnyInstructionSet);
  return {
      "instruction_set", &instruction_set, "Highest instruction set to use", {.choices = choices}};
}

void limit_instruction_set(const std::string& instruction_set) {
  if (instruction_set != kAnyInstructionSet) engine::limit_instruction_set(instruction_set);
}

std::vector<std::string> dtype_names() { return {"f32", "bf16", "f16", "32", "16", "fp16"}; }

DType dtype_named(const std::string& name) {
  if (name == "f16" || name == "fp16") return DType::kF16;
  return name == "bf16" || name == "16" ? DType::kBF16 : DType::kF32;
}

}  // namespace cloze::cli
