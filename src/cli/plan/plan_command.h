// What `cloze plan` prints and writes, and `cloze pretrain --compile-only` prints.
#pragma once

#include <filesystem>
#include <string>

#include "cli/options/option_table.h"
#include "cli/pretrain_options.h"
#include "cli/scale/scale_plan.h"

namespace cloze::cli {

struct PlanRequest {
  bool kernels = false;           // also which kernel serves which operator
  std::string fit;                // a memory size: find the largest micro-batch; empty: do not
  std::filesystem::path report;   // HTML; empty: none
  std::filesystem::path measure;  // device file to make; empty: none
  ScaleRequest scale;             // many ranks
};

void add_plan_rows(OptionTable& table, PlanRequest& request);

// The options are settled; fit changes the micro-batch.
void print_plan(PretrainOptions& options, const PlanRequest& request);

}  // namespace cloze::cli
