// What `cloze plan --network-file` prints: a step on many ranks, on a device and a network that one
// need not own.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "cli/options/option_table.h"
#include "cli/run/pretrain_run.h"
#include "forecast/device_rates.h"
#include "forecast/memory_forecast.h"
#include "forecast/rank_layout.h"

namespace cloze::cli {

struct ScaleRequest {
  std::filesystem::path network_file;  // empty: the plan is of one process
  std::optional<int64_t> scaling;      // a table of up to so many ranks
  std::optional<double> simulate;  // play the step; the first rank computes so many times as long
};

void add_scale_rows(OptionTable& table, ScaleRequest& request);

// UserError when something is asked for that needs a network.
void require_network(const ScaleRequest& request);

// UserError when replicas, stages and hosts do not fit. `before`: the memory of this process.
std::string describe_scale(const PretrainRun& run, const ScaleRequest& request,
                           const forecast::DeviceRates& rates,
                           const forecast::MemoryForecast& before);

}  // namespace cloze::cli
