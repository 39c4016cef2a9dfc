// One or several runs of a fine-tuning command, one for each seed, and what they score.
#pragma once

#include "cli/training/finetune_options.h"
#include "models/bert_heads.h"
#include "tasks/finetuning_task.h"

namespace cloze::cli {

// Prints what a task says, reports on the texts that it cuts (cli/data/cut_report.h), and shows the
// progress of its models. When a signal asks to stop, the client that is watched throws
// InferenceStopped. Keeps references.
tasks::TaskOutput task_output(const FinetuneOptions& options, const StartModel& model);

struct Finetuning {
  FinetuneOptions& options;  // the seed becomes that of the current run
  const OptionTable& table;
  const StartModel& model;
  tasks::FinetuningPhases phases;
};

// What a step takes, for compile_only; and how long it takes, by the rates of device_file.
void print_plan(const FinetuneOptions& options, const StartModel& model,
                const models::BertHead& head);

// Trains when it is a phase, and finishes with the best checkpoint, else with init_checkpoint. With
// several seeds each run has a folder seed-N in save_path; means and deviations are printed and,
// with what each run scored and the best, written to seed_summary.json in output_dir (or
// save_path); restore_dir then goes on with the seeds that have begun.
void finetune(const Finetuning& finetuning, tasks::FinetuningTask& task);

}  // namespace cloze::cli
