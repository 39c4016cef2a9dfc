#include "cli/options/machine_options.h"

#include "base/error.h"
#include "cli/console/say.h"
#include "engine/instruction_set.h"

namespace cloze::cli {

namespace {

constexpr const char* kCard = "cuda";

}  // namespace

Option device_option(std::string& device) {
  device = kAnyDevice;
  std::vector<std::string> choices = engine::device_names();
  choices.insert(choices.begin(), kAnyDevice);
  return {"device",
          &device,
          "Device that computes; auto: a CUDA card where there is one, else the CPU; cuda:1 is the "
          "second card (cloze devices lists all)",
          {.choices = choices,
           .choices_of_tests = engine::test_device_names(),
           .are_choices_numbered = true}};
}

std::string chosen_device(const std::string& device, const engine::Cards& cards,
                          const comm::PlaceOnHost& place) {
  if (device != kAnyDevice && device != kCard) return device;
  if (device == kAnyDevice && !cards.refusal.empty()) return "cpu";
  const auto count = std::ssize(cards.cards);
  if (place.size == 1 || count == 0) return kCard;
  if (count < place.size) {
    throw_user_error(
        "{} processes on this machine need a card each, and it has {}; start fewer processes, or "
        "choose `device` cpu",
        place.size, count);
  }
  return fmt::format("{}:{}", kCard, place.rank);
}

std::string chosen_device(const std::string& device) {
  const std::string chosen = chosen_device(device, engine::cards(), comm::place_on_host());
  engine::device_named(chosen);  // or says what is wrong with it
  return chosen;
}

std::optional<int64_t> card_memory(const std::string& chosen_device) {
  const auto card = engine::card_of(chosen_device);
  return card ? std::optional(card->memory_bytes) : std::nullopt;
}

void say_card(const std::string& chosen_device) {
  if (!chosen_device.starts_with(kCard)) return;
  const auto target = engine::device_named(chosen_device).backend().target({});
  say("device {}: {}\n", chosen_device, target->description());
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
