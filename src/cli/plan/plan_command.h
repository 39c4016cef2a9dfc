// What `cloze plan` prints and writes, and `cloze pretrain --compile-only` prints.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "cli/options/option_table.h"
#include "cli/plan/scale_plan.h"
#include "cli/run/pretrain_run.h"
#include "forecast/device_rates.h"
#include "train/training_step.h"

namespace cloze::cli {

struct PlanRequest {
  bool kernels = false;           // also which kernel serves which operator
  std::string fit;                // a memory size: find the largest micro-batch; empty: do not
  std::filesystem::path report;   // HTML; empty: none
  std::filesystem::path measure;  // device file to make; empty: none
  ScaleRequest scale;             // many ranks
};

// What `recompute` saves and costs: a step planned with it and without it.
struct RecomputeChoice {
  struct Cost {
    int64_t bytes = 0;     // of a step
    double seconds = 0.0;  // of a step
  };
  Cost kept, recomputed;
  bool is_on = false;

  double added_share() const { return recomputed.seconds / kept.seconds - 1.0; }
  // "recompute would save 1289.6 MiB of the 6732.7 that a step takes, and add 22 % to its time"; or
  // "saves ... adds" when it is on.
  std::string text() const;
};

// `planned`: of the step as it is; the other is planned here. UserError as forecast::estimated_seconds().
RecomputeChoice recompute_choice(const train::TrainingStepOptions& step,
                                 const RecomputeChoice::Cost& planned,
                                 const forecast::DeviceRates& rates, int64_t micro_batches);

void add_plan_rows(OptionTable& table, PlanRequest& request);

void print_plan(const PretrainRun& run, const PlanRequest& request);

}  // namespace cloze::cli
