// CUDA cards as devices: memory, streams and events by CUDA's runtime, kernels of backend/gpu.
//
// No card has run this yet.
#pragma once

#include <string_view>

#include "backend/cuda/cards.h"
#include "backend/device.h"

namespace cloze::backend::cuda {

// `which`: the number of a card, "1"; empty: the first; the kind of one that the machine need not have
// (card_to_plan_for), on which programs are planned and nothing runs.
// UserError when no card is called so, or in a build without CUDA; EnvironmentError when there is no card that
// can be used. Both say why, and what to do.
Device& device(std::string_view which);

// The card that is called so there; nothing where none is, or it cannot be used.
std::optional<Card> find_card(std::string_view which);

}  // namespace cloze::backend::cuda
