#include "backend/cuda/cuda_device.h"
#include "base/error.h"

namespace cloze::backend::cuda {
namespace {

constexpr const char* kRefusal = "this program was built without CUDA";
constexpr const char* kAdvice =
    "build it where nvcc of CUDA 13 is found (-DCLOZE_NVCC=FILE names one)";

}  // namespace

const Cards& cards() {
  static const Cards none{.cards = {}, .driver = {}, .refusal = kRefusal, .advice = kAdvice};
  return none;
}

std::optional<Card> find_card(std::string_view) { return std::nullopt; }

Device& device(std::string_view which) {
  throw_user_error("`device` cuda{}{}: {}; {}, or choose `device` cpu", which.empty() ? "" : ":",
                   which, kRefusal, kAdvice);
}

}  // namespace cloze::backend::cuda
