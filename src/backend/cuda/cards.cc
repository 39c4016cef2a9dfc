#include "backend/cuda/cards.h"

#include <fmt/format.h>

namespace cloze::backend::cuda {

std::string Card::capability() const {
  return fmt::format("{}.{}", capability_major, capability_minor);
}

std::string Card::instruction_set() const {
  return fmt::format("sm_{}{}", capability_major, capability_minor);
}

std::string Card::refusal() const {
  constexpr int kLeastCapability = 8;  // of A100
  if (capability_major >= kLeastCapability) return "";
  return fmt::format("compute capability {}, and {}.0 is the least", capability(),
                     kLeastCapability);
}

std::optional<Card> card_to_plan_for(std::string_view kind) {
  constexpr int64_t kGigabyte = 1'000'000'000;
  if (kind == "a100") return Card{"A100 SXM 80 GB", 80 * kGigabyte, 8, 0, 108};
  if (kind == "h100") return Card{"H100 SXM 80 GB", 80 * kGigabyte, 9, 0, 132};
  if (kind == "h200") return Card{"H200 SXM 141 GB", 141 * kGigabyte, 9, 0, 132};
  return std::nullopt;
}

}  // namespace cloze::backend::cuda
