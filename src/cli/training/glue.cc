#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include "base/error.h"
#include "cli/configuration/configuration_commands.h"
#include "cli/options/commands.h"
#include "cli/training/finetune_models.h"
#include "cli/training/finetune_runs.h"
#include "platform/available_threads.h"
#include "tasks/glue/glue_finetuning.h"
#include "tasks/glue/glue_task.h"

namespace cloze::cli {
namespace {

struct GlueOptions : FinetuneOptions {
  tasks::GlueFinetuningOptions glue;
  GlueOptions() { head = glue.head.kind; }
};

void add_options(OptionTable& table, GlueOptions& o) {
  table.begin_group("Task");
  table.add_common("task_name", &o.glue.task_name,
                   fmt::format("One of {}", fmt::join(tasks::glue_task_names(), ", ")));
  table.add_common("data_dir", &o.glue.data_dir,
                   "Folder of the task's TSV files, or the one above it");
  table.add("glue_dropout_prob", &o.glue.head.classifier_dropout, "Dropout before the classifier",
            {.minimum = 0, .maximum = 0.9999999});
  add_class_loss_options(
      table, o.glue.head.label_smoothing, o.glue.class_weights, [&o]() -> std::string {
        const std::string& name = o.glue.task_name;
        if (!tasks::glue_task(name).is_regression()) return "";
        return fmt::format("is for classes, but {} predicts a number; leave it out", name);
      });
  add_finetune_options(table, o, "GLUE", "task_name says which of its tasks");
  table.find("on_high_loss")->option.rules.idle = [&o]() -> std::string {
    const std::string& name = o.glue.task_name;
    if (!tasks::glue_task(name).is_regression()) return "";
    return fmt::format(
        "with task_name {}: what an untrained model loses by regression is not known", name);
  };
}

// Checks the task's options. Returns the files that the run reads.
std::vector<std::filesystem::path> inputs_of(const GlueOptions& options) {
  const tasks::GlueFinetuningOptions& glue = options.glue;
  if (glue.task_name.empty()) throw_user_error("task_name is missing; see --help");
  if (glue.data_dir.empty()) throw_user_error("data_dir is missing; name the TSV files' folder");
  std::vector<std::filesystem::path> inputs = {options.vocab_file};
  for (const auto split :
       {tasks::GlueSplit::kTrain, tasks::GlueSplit::kDev, tasks::GlueSplit::kTest}) {
    const auto file = tasks::find_glue_file(glue.data_dir, tasks::glue_task(glue.task_name), split);
    if (file) inputs.push_back(*file);
  }
  return inputs;
}

void run(GlueOptions& options, OptionTable& table) {
  const FinetuneRun run = resolve(options, table, [&] { return inputs_of(options); });
  tasks::GlueFinetuningOptions glue = options.glue;
  glue.features = {.max_sequence_length = options.seq_length,
                   .threads = platform::resolved_threads(run.training.step.compile.target.threads)};
  tasks::GlueFinetuning task(glue, run.start.tokenizer, task_output(run));
  if (options.compile_only) return print_plan(run, task);
  const tasks::FinetuningPhases phases = phases_of(options, task.possible_phases());
  task.prepare(run.start.head, phases);
  finetune(run, phases, task);
}

}  // namespace

void add_glue(Subcommand program) {
  program.add_command(
      "glue",
      {"Fine-tune, score and predict a GLUE task",
       "cloze glue --config finetune_glue_mini --task-name SST-2 --data-dir glue_data "
       "--init-checkpoint run --save-path sst2"},
      add_options, run);
}

void add_glue_configuration(ConfigurationCommands& commands) { commands.add("glue", add_options); }

}  // namespace cloze::cli
