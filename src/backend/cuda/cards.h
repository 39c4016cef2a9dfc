// The CUDA cards of this machine, and those that a program is planned for without having one.
//
// A build without nvcc has this header too: absent.cc then says that there is none, and why.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cloze::backend::cuda {

struct Card {
  std::string name;  // "NVIDIA H100 80GB HBM3"
  int64_t memory_bytes = 0;
  int capability_major = 0, capability_minor = 0;
  int multiprocessors = 0;
  // The file of its peak rates, by its name in configs/devices, of a card to plan for.
  std::string data_sheet = {};

  std::string capability() const;       // "9.0"
  std::string instruction_set() const;  // "sm_90"
  // Why our kernels do not run on it; empty where they do.
  std::string refusal() const;
};

struct Cards {
  std::vector<Card> cards;  // in the order of CUDA's numbers
  std::string driver;       // the newest CUDA that the driver serves, "13.0"; empty: no driver
  // Why no card can be used, and what to do about it; empty where the first one can.
  std::string refusal;
  std::string advice;
  bool has_products = true;  // a cuBLASLt that computes them

  bool can_be_used() const { return !cards.empty() && has_products; }
};

// Asks CUDA, and looks for a cuBLASLt, once.
const Cards& cards();
// Asks CUDA.
Cards find_cards();
// Cards for which there is no cuBLASLt, and why.
Cards without_products(Cards found, const std::string& refusal);

// A card by the name of its kind, "a100", "h100" or "h200", to plan for. Sizes are those of NVIDIA's data
// sheets for the modules (SXM), memory in powers of ten.
std::optional<Card> card_to_plan_for(std::string_view kind);
inline constexpr const char* kCardsToPlanFor = "cuda:a100, cuda:h100 or cuda:h200";

}  // namespace cloze::backend::cuda
