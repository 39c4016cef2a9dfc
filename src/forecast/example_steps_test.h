// Steps on many ranks for the tests of this folder.
#pragma once

#include "forecast/step_model.h"

namespace cloze::forecast {

// Stages of 1 ms forward and 2 ms backward, each with ten gradients of 1 MiB that take 0.1 ms each
// to update, and the tied table.
inline StepModel model_of(const RankLayout& layout, const NetworkRates& network) {
  StepModel model{.layout = layout, .network = network};
  for (int64_t stage = 0; stage < layout.stages; ++stage) {
    StageCosts costs{.layers = 2, .forward = 1e-3, .backward = 2e-3};
    costs.forward_bytes = stage + 1 < layout.stages ? 1 << 20 : 0;
    costs.backward_bytes = stage > 0 ? 1 << 20 : 0;
    // The update goes through them in reverse.
    for (int i = 1; i <= 10; ++i) costs.gradients.push_back({2e-4 * i, 1 << 20, 1e-4, 10 - i});
    costs.parameter_bytes.assign(10, 1 << 20);
    if (layout.stages > 1 && (stage == 0 || stage + 1 == layout.stages)) costs.tied_bytes = 1 << 20;
    model.stages.push_back(costs);
  }
  return model;
}

inline NetworkRates endless_network() {
  const Link link{.rate = 1e18};
  return {.network = "endless", .ranks_per_host = 8, .inside_host = link, .between_hosts = link};
}

inline NetworkRates cluster(double overlap) {
  return {.network = "a cluster",
          .ranks_per_host = 4,
          .overlap = overlap,
          .inside_host = {.latency = 2e-6, .message = 1e-6, .rate = 50e9},
          .between_hosts = Link{.latency = 5e-6, .message = 1e-6, .rate = 20e9}};
}

}  // namespace cloze::forecast
