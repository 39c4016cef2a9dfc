// One or several runs of a fine-tuning command, one for each seed, and what they score.
#pragma once

#include "cli/run/finetune_run.h"
#include "tasks/finetuning_task.h"

namespace cloze::cli {

// What a step takes, for compile_only; and how long it takes, by the rates of device_file.
void print_plan(const FinetuneRun& run, const tasks::FinetuningTask& task);

// Trains when it is a phase, and finishes with the best checkpoint, else with init_checkpoint. With
// several seeds each run has a folder seed-N in save_path; means and deviations are printed and,
// with what each run scored and the best, written to seed_summary.json in output_dir (or
// save_path); restore_dir then goes on with the seeds that have begun.
void finetune(const FinetuneRun& run, const tasks::FinetuningPhases& phases,
              tasks::FinetuningTask& task);

}  // namespace cloze::cli
