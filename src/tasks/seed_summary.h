// What the runs of several seeds scored: each, their mean, their standard deviation (n - 1), and
// the best.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace cloze::tasks {

using Scores = std::map<std::string, double>;  // "MRPC accuracy" → percent

struct SeedScores {
  int64_t seed = 0;
  Scores scores;  // the same names for every seed
};

// A line for each score: "RTE accuracy 84.31 +- 0.52 (3 runs: 84.10, 84.90, 83.93)", or of one run
// "RTE accuracy 84.31".
std::vector<std::string> describe_runs(const std::vector<SeedScores>& runs);

// {"runs": [{"seed": 1, "scores": {...}}, ...], "summary": {"RTE accuracy": {"mean", "deviation",
// "best", "best_seed"}}}; the first of equal ones is the best.
nlohmann::ordered_json seed_summary_json(const std::vector<SeedScores>& runs);

}  // namespace cloze::tasks
