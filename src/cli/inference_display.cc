#include "cli/inference_display.h"

#include <fmt/core.h>

#include "platform/signals.h"

namespace cloze::cli {

InferenceDisplay::InferenceDisplay(inference::InferenceClient& client, int64_t total)
    : client_(client),
      total_(total),
      display_([this](double seconds) { return describe(seconds); }) {
  client_.set_observer([this](const data::MicroBatch& batch) {
    if (platform::stop_requested()) throw InferenceStopped();
    sequences_ += batch.num_sequences;
    tokens_ += batch.num_tokens;
  });
}

std::string InferenceDisplay::describe(double seconds) const {
  const auto done = static_cast<double>(sequences_.load());
  const auto total = static_cast<double>(total_);
  return fmt::format("model run on {:.0f} % of {} sequences, {:.0f} tokens/s, {:.0f} s left",
                     100 * done / total, total_, static_cast<double>(tokens_.load()) / seconds,
                     seconds_left(done, total, seconds));
}

}  // namespace cloze::cli
