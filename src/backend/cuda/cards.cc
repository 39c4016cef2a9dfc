#include "backend/cuda/cards.h"

#include <fmt/format.h>

#include <map>

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
  static const std::map<std::string_view, Card> kCards = {
      {"a100", {"A100 SXM 80 GB", 80 * kGigabyte, 8, 0, 108, "nvidia_a100_sxm_80gb"}},
      {"h100", {"H100 SXM 80 GB", 80 * kGigabyte, 9, 0, 132, "nvidia_h100_sxm_80gb"}},
      {"h200", {"H200 SXM 141 GB", 141 * kGigabyte, 9, 0, 132, "nvidia_h200_sxm_141gb"}}};
  const auto found = kCards.find(kind);
  if (found != kCards.end()) return found->second;
  return std::nullopt;
}

}  // namespace cloze::backend::cuda
