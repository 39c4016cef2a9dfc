#include "cli/training/finetune_runs.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "cli/console/say.h"
#include "cli/inference/inference_options.h"
#include "cli/options/machine_options.h"
#include "cli/plan/run_estimate.h"
#include "cli/plan/run_memory.h"
#include "cli/plan/step_plan.h"
#include "cli/run/resumed_options.h"
#include "cli/training/finetune_models.h"
#include "cli/training/finetune_report.h"
#include "cli/training/training_run.h"
#include "forecast/memory_forecast.h"
#include "forecast/step_seconds.h"
#include "formats/json.h"
#include "platform/files/atomic_file.h"
#include "platform/files/folder.h"
#include "platform/signals.h"
#include "train/saving/checkpoint.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;

fs::path best_checkpoint(const fs::path& folder, const train::TrainingState& state) {
  const int64_t step = state.best_metric ? state.best_step : state.step;
  return train::checkpoint_path(folder, step);
}

fs::path output_folder(const FinetuneOptions& options) {
  return options.output_dir.empty() ? options.training.save_path : options.output_dir;
}

// The memory of a model that is evaluated during its training.
int64_t evaluation_bytes(const FinetuneRun& run, const models::BertHead& head) {
  const inference::InferenceMemory memory = memory_to_infer(run, head);
  return memory.weights_bytes + memory.batch_bytes;
}

// Sets the head, with room for its labels, and for all sequences of a sample.
void set_head(const tasks::FinetuningTask& task, int64_t sequence_length,
              train::TrainingStepOptions& step) {
  step.head = task.head();
  step.vector_loss = task.vector_loss();
  data::MicroBatchCapacity& capacity = step.capacity;
  capacity.tokens = std::max(capacity.tokens, task.sequences_per_sample() * sequence_length);
  capacity.sequences *= task.sequences_per_sample();
  const models::PredictionRoom room = step.head.traits().prediction_room;
  if (room) capacity.predictions = room(step.head, capacity.tokens, capacity.sequences);
}

// Says whether an earlier, stopped execution of this command has already continued the run here.
bool went_on_here(const fs::path& here, const fs::path& restore_dir) {
  if (train::checkpoint_steps(here).empty()) return false;
  return newest_options(here).value("restore_dir", "") == restore_dir.string();
}

void write_summary(const fs::path& folder, const std::vector<tasks::SeedScores>& runs) {
  const fs::path file = folder / "seed_summary.json";
  platform::write_file_atomically(file, formats::json_text(tasks::seed_summary_json(runs)));
  say("wrote {}\n", file.string());
}

// Writes what the task has to show of the model that it has scored.
void write_report(const FinetuneRun& run, const tasks::FinetuningTask& task, const fs::path& folder,
                  FinetuneReport report) {
  report.scores = task.report();
  if (report.scores.empty()) return;
  report.title = fmt::format("Fine-tuned: {}", run.options.task);
  const fs::path file = folder / "report.html";
  platform::write_file_atomically(file, finetune_report_html(report));
  say("wrote {}\n", file.string());
}

// Says how a model was trained, in a folder.
FinetuneReport report_of(const FinetuneRun& run, const train::TrainingState& state,
                         const fs::path& folder) {
  const fs::path& start = run.options.training.init_checkpoint;
  FinetuneReport report{.metrics = folder / "metrics.jsonl"};
  report.facts = {{"model", folder.string()},
                  {"started from", start.empty() ? "random weights" : start.string()},
                  {"trained for", fmt::format("{} steps, {:.4g} epochs, with the seed {}",
                                              state.step, state.epoch, state.seed)}};
  if (state.best_metric) {
    report.facts.emplace_back("weights",
                              fmt::format("those of step {}, which scored best", state.best_step));
  }
  return report;
}

// The best weights are chosen by scores while training.
void note_evaluations_of_none(const FinetuneRun& run, const tasks::FinetuningPhases& phases) {
  if (phases.training && phases.evaluation) return;
  for (const std::string& name : run.asked_of_evaluations) {
    say("note: {} has no effect: this run {}\n", name,
        phases.training ? "scores no dev data" : "trains nothing");
  }
}

// Trains with each seed, and finishes with the best checkpoint of each.
class SeedRuns {
 public:
  SeedRuns(const FinetuneRun& run, const tasks::FinetuningPhases& phases,
           tasks::FinetuningTask& task)
      : run_(run), phases_(phases), task_(task), models_(run, task) {}

  void run() {
    platform::install_stop_signals();
    refuse_earlier();
    try {
      train_all();
    } catch (const platform::Interruption&) {
      if (!has_begun()) throw;  // nothing is saved: the same command starts again
      end_saved_run(run_.options, platform::stop_signal());
    }
  }

 private:
  const train::TrainingOptions& given() const { return run_.options.training; }
  fs::path first_folder() const { return run_.folder_of(given().save_path, given().step.seed); }
  bool has_begun() const { return !train::checkpoint_steps(first_folder()).empty(); }

  // Training itself would name the folder of a seed, which resumes no other seed.
  void refuse_earlier() const {
    if (run_.options.num_seeds == 1 || !given().restore_dir.empty() || !has_begun()) return;
    throw_user_error(
        "save_path {} holds an earlier run of seeds, {}; resume it with --restore-dir {} or choose "
        "another folder",
        given().save_path.string(), first_folder().filename().string(), given().save_path.string());
  }

  void train_all() {
    const std::shared_ptr<const data::Dataset> dataset = task_.training_data();
    const train::TrainingOptions training = with_data(dataset);
    const fs::path output = output_folder(run_.options);
    const int64_t first = given().step.seed;
    std::vector<tasks::SeedScores> runs;
    for (int64_t seed = first; seed < first + run_.options.num_seeds; ++seed) {
      const fs::path folder = run_.folder_of(given().save_path, seed);
      const train::TrainingState state = train(training, seed, folder);
      tasks::Scores scores;
      if (phases_.evaluation || phases_.prediction) {
        const fs::path results = run_.folder_of(output, seed);
        scores = models_.finish(best_checkpoint(folder, state), results);
        write_report(run_, task_, results, report_of(run_, state, folder));
      }
      runs.push_back({seed, std::move(scores)});
    }
    for (const std::string& line : tasks::describe_runs(runs)) fmt::print("{}\n", line);
    if (phases_.evaluation && runs.size() > 1) write_summary(output, runs);
  }

  // The options that the runs of all seeds share.
  train::TrainingOptions with_data(const std::shared_ptr<const data::Dataset>& dataset) {
    const int64_t steps = scheduled_steps(run_, dataset->size());
    train::TrainingOptions training = training_of(run_, steps);
    set_head(task_, run_.options.seq_length, training.step);
    training.fresh_prefix = task_.fresh_prefix();
    training.fresh_values = task_.fresh_values();
    training.dataset = dataset;
    training.tokens = run_.start.tokenizer.vocabulary().tokens();
    training.tokenizer = run_.start.tokenizer.options();
    training.sentences = run_.start.sentences;
    if (phases_.evaluation && run_.options.evaluations_per_epoch > 0) {
      training.evaluation_steps = evaluation_steps(run_, dataset->size(), steps);
      training.evaluated_on = task_.evaluated_on();
      training.evaluate = [this](engine::Session& trained, int64_t step) {
        return models_.evaluate(trained, step);
      };
    }
    return training;
  }

  train::TrainingState train(train::TrainingOptions training, int64_t seed,
                             const fs::path& folder) {
    training.step.seed = static_cast<uint32_t>(seed);
    training.save_path = folder;
    training.restore_dir = folder_to_resume(seed);
    training.extra_files = run_.files_of(seed);
    const int64_t bytes = training.evaluate ? evaluation_bytes(run_, training.step.head) : 0;
    return run_training(std::move(training), run_, bytes);
  }

  // Of several seeds, those that have begun go on: first those in save_path, and then those in
  // restore_dir.
  fs::path folder_to_resume(int64_t seed) const {
    if (given().restore_dir.empty()) return {};
    const fs::path written = run_.folder_of(given().save_path, seed);
    const bool is_one = run_.options.num_seeds == 1;
    if (!is_one && went_on_here(written, given().restore_dir)) return written;
    const fs::path folder = run_.folder_of(given().restore_dir, seed);
    if (is_one || !train::checkpoint_steps(folder).empty()) return folder;
    const fs::path& start = given().init_checkpoint;
    say("{} has no checkpoint: seed {} starts from {}\n", folder.string(), seed,
        start.empty() ? "random weights" : start.string());
    return {};
  }

  const FinetuneRun& run_;
  const tasks::FinetuningPhases phases_;
  tasks::FinetuningTask& task_;
  const FinetuneModels models_;
};

// Scores and predicts with the model that the options name, without training.
void finish_named(const FinetuneRun& run, const tasks::FinetuningPhases& phases,
                  tasks::FinetuningTask& task) {
  const train::TrainingOptions& training = run.options.training;
  const fs::path& named =
      training.restore_dir.empty() ? training.init_checkpoint : training.restore_dir;
  if (named.empty()) {
    throw_user_error("there are no weights to score; give init_checkpoint, or train");
  }
  const int64_t seeds = run.options.num_seeds;
  if (seeds > 1 && run.resumes_seeds) {
    throw_user_error("{} has runs of {} seeds; name one of them: --restore-dir {}", named.string(),
                     seeds, run.folder_of(named, training.step.seed).string());
  }
  if (seeds > 1) {
    throw_user_error("num_seeds is {}, but nothing is trained; leave it out", seeds);
  }
  const fs::path path = model_path(named);
  if (!phases.evaluation && !phases.prediction) return;
  forecast::MemoryForecast memory;
  memory.use_card(card_memory(run.training.step.compile.device));
  memory.add_inference(memory_to_infer(run, task.head()));
  say("{}\n", memory.text());
  FinetuneModels(run, task).finish(path, output_folder(run.options));
  write_report(run, task, output_folder(run.options), {.facts = {{"model", path.string()}}});
}

}  // namespace

void print_plan(const FinetuneRun& run, const tasks::FinetuningTask& task) {
  train::TrainingStepOptions step = run.training.step;
  set_head(task, run.options.seq_length, step);
  forecast::MemoryForecast memory = memory_beside_step(run);
  memory.add_to_device("evaluation", evaluation_bytes(run, step.head));
  const plan::Program program = compiled(step);
  add_step(memory, run.training, program, saves_before_end(run));
  fmt::print("{}", describe_plan(step, program, run.batch.sequences_per_step, memory, false));
  if (run.options.device_file.empty()) return;
  const plan::ProgramUse use = plan::use_of(program);
  const forecast::StepSeconds estimated =
      forecast::estimated_seconds(program, use, device_rates(run.options));
  fmt::print(
      "{}", describe_run(run, {estimated.of_step(use, run.batch.micro_batches), estimated.source}));
}

void finetune(const FinetuneRun& run, const tasks::FinetuningPhases& phases,
              tasks::FinetuningTask& task) {
  // Fails now, and not after hours of training.
  std::optional<platform::MadeFolder> output;
  if (phases.evaluation || phases.prediction) output.emplace(output_folder(run.options));
  note_evaluations_of_none(run, phases);
  phases.training ? SeedRuns(run, phases, task).run() : finish_named(run, phases, task);
}

}  // namespace cloze::cli
