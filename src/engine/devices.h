// The one place that names concrete devices.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/cuda/cards.h"
#include "backend/device.h"

namespace cloze::engine {

// UserError for a name that is neither among device_names() nor among test_device_names(), and for a
// number, as in "cpu:1", of a device of which there is only one. "cuda:1" and its errors are
// backend/cuda's.
backend::Device& device_named(std::string_view name);

// The cards of this machine, and why none can be used.
using backend::cuda::Card;
using backend::cuda::Cards;
using backend::cuda::cards;
// The card that a device of this name is; nothing for other devices.
std::optional<Card> card_of(std::string_view device);

// Devices that users are offered: "cpu", "cuda".
std::vector<std::string> device_names();
// Devices for tests and for planning: "reference", "walled", "late", "emulated", "null".
std::vector<std::string> test_device_names();

}  // namespace cloze::engine
