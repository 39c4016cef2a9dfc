// The speed of a device at each operator: `cloze plan --measure` writes it, --device-file reads it.
//
//   {"schema": "cloze.device", "version": 1, "device": "...", "source": "...",
//    "gflops": {"f32": 101.2, "bf16": 190.0}, "gigabytes_per_second": 14.1,
//    "operators": [{"operator": "linear", "dtype": "f32", "work": 1.2e9, "seconds": 0.011}, ...]}
//
// A file from a data sheet has no "operators". Work is FLOPs where the operator counts them, else
// bytes read and written.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "plan/program_use.h"

namespace cloze::forecast {

// The dtype of the numbers that a launch reads, or else writes: "bf16" for a product of bf16.
std::string dtype_of(const plan::Program& program, const graph::Node& node);

struct DeviceRates {
  std::string device;                    // for people
  std::string source;                    // where the numbers are from
  std::map<std::string, double> gflops;  // of matrix products, by dtype
  double gigabytes_per_second = 0.0;     // of everything else; 0: not known
  // (operator, dtype) → work → seconds of one call
  std::map<std::pair<std::string, std::string>, std::map<double, double>> operators;

  // One call: what was measured for this work. Between two measured works the seconds are
  // interpolated (log-log); beyond the last one the rate stays constant. An operator that was not
  // measured takes the longer of its products and its bytes; 0 where the file says nothing of them.
  double seconds(const plan::Program& program, const plan::LaunchUse& use) const;
  double seconds(const std::string& op, const std::string& dtype, double work) const;
};

// FLOPs, or bytes where an operator counts none.
double work_of(const plan::LaunchUse& use);

// The host's own work between launches of a step, most of it clearing the gradients: an operator of
// this name, whose work is the bytes of the gradients.
inline constexpr const char* kHostWork = "between launches";

std::string device_text(const DeviceRates& rates);
// DataError that names the file, what is wrong and where such a file comes from.
DeviceRates read_device_file(const std::filesystem::path& path);

}  // namespace cloze::forecast
