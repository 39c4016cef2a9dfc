// The benchmarks by name: configs/benchmarks.yml. Each is a list of command lines of cloze, in
// which configurations are named from that file's folder and $DATASETS_DIR is the folder of real
// data.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace cloze::cli {

struct BenchmarkRun {
  std::string command;                         // "pretrain", "squad", "glue", "latency"
  std::map<std::string, std::string> options;  // {"num_train_steps": "4"}; a bare flag is "true"

  std::string text() const;  // as on the command line
};

using BenchmarkTable = std::map<std::string, std::vector<BenchmarkRun>>;

// UserError that names the file and what it lacks.
BenchmarkTable read_benchmarks(const std::filesystem::path& file);

// UserError with the nearest names.
const std::vector<BenchmarkRun>& benchmark_named(const BenchmarkTable& table,
                                                 const std::string& name);

// How far a run is scaled down to fit a machine: no option exceeds these.
struct BenchmarkScale {
  std::string name;
  std::map<std::string, int64_t> most;
};
const std::vector<BenchmarkScale>&
benchmark_scales();  // from small to large; the last cuts nothing

}  // namespace cloze::cli
