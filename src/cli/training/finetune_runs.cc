#include "cli/training/finetune_runs.h"

#include <fmt/core.h>

#include <atomic>
#include <optional>

#include "base/error.h"
#include "cli/data/cut_report.h"
#include "cli/exit_code.h"
#include "cli/inference/inference_options.h"
#include "cli/plan/report.h"
#include "cli/say.h"
#include "cli/training/resumed_options.h"
#include "cli/training/run_estimate.h"
#include "cli/training/training_run.h"
#include "cli/training/training_setup.h"
#include "cli/work_display.h"
#include "forecast/memory_forecast.h"
#include "formats/json.h"
#include "inference/inference_memory.h"
#include "platform/available_threads.h"
#include "platform/files/atomic_file.h"
#include "platform/files/folder.h"
#include "platform/signals.h"
#include "train/saving/checkpoint.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;
using inference::PackedModel;

fs::path best_checkpoint(const fs::path& folder, const train::TrainingState& state) {
  const int64_t step = state.best_metric ? state.best_step : state.step;
  return train::checkpoint_path(folder, step);
}

fs::path output_folder(const FinetuneOptions& options) {
  return options.output_dir.empty() ? options.training.save_path : options.output_dir;
}

train::TrainingStepOptions step_of(const FinetuneOptions& options, const StartModel& model,
                                   const models::BertHead& head) {
  train::TrainingStepOptions step = step_options(options);
  step.model = model.config;
  step.head = head;
  return step;
}

inference::InferenceMemory memory_to_infer(const FinetuneOptions& options, const StartModel& model,
                                           const models::BertHead& head) {
  const engine::CompileOptions& compile = options.training.step.compile;
  return inference::inference_memory(model.config, head, {.device = compile.device},
                                     platform::resolved_threads(compile.target.threads));
}

// The memory of a model that is evaluated during its training.
int64_t evaluation_bytes(const FinetuneOptions& options, const StartModel& model,
                         const models::BertHead& head) {
  const inference::InferenceMemory memory = memory_to_infer(options, model, head);
  return memory.weights_bytes + memory.batch_bytes;
}

// What a client's run() throws when a signal asked to stop (platform/signals.h).
struct InferenceStopped {};

// Shows a model's progress through the `total` sequences of a task, and lets a signal end the work.
// Observes the client, which it must not outlive.
class InferenceDisplay {
 public:
  InferenceDisplay(inference::InferenceClient& client, int64_t total)
      : client_(client),
        total_(total),
        display_([this](double seconds) { return describe(seconds); }) {
    client_.set_observer([this](const data::MicroBatch& batch) {
      if (platform::stop_requested()) throw InferenceStopped();
      sequences_ += batch.num_sequences;
      tokens_ += batch.num_tokens;
    });
  }
  ~InferenceDisplay() { client_.set_observer({}); }
  InferenceDisplay(const InferenceDisplay&) = delete;
  InferenceDisplay& operator=(const InferenceDisplay&) = delete;

 private:
  std::string describe(double seconds) const {
    return fmt::format("model run on {:.0f} % of {} sequences, {:.0f} tokens/s, {} left",
                       percent(sequences_, total_), total_,
                       static_cast<double>(tokens_.load()) / seconds,
                       time_left(sequences_, total_, seconds));
  }

  inference::InferenceClient& client_;
  int64_t total_;
  std::atomic<int64_t> sequences_ = 0;
  std::atomic<int64_t> tokens_ = 0;
  WorkDisplay display_;  // last: it reads the others
};

// Tokens that the model has no row for have a note of their own (tasks::note_rowless).
void examine(const std::string& file, const std::vector<std::string_view>& texts,
             const FinetuneOptions& options, const StartModel& model) {
  const bool has_start =
      !options.training.init_checkpoint.empty() || !options.training.restore_dir.empty();
  CutReport how{.max_unknown_percent = options.max_unknown_percent,
                .source = file,
                .to_keep_accents = "start from a model that keeps them"};
  if (has_start) {
    how.cure = options.vocab_file.empty() ? "start from a model that was made for such text"
                                          : "leave out vocab_file, or give the start model's";
  }
  report_cut(sample_of(texts),
             text::Tokenizer(model.tokenizer.vocabulary(), model.tokenizer.options()), how);
}

class FinetuneRuns {
 public:
  FinetuneRuns(const Finetuning& finetuning, tasks::FinetuningTask& task)
      : finetuning_(finetuning), options_(finetuning.options), task_(task) {}

  void run() {
    // Fails now, and not after hours of training.
    std::optional<platform::MadeFolder> output;
    if (has_output()) output.emplace(output_folder(options_));
    note_evaluations_of_none();
    note_losses_of_regression();
    if (finetuning_.phases.training) {
      train_and_finish();
    } else {
      finish_named();
    }
  }

 private:
  bool has_output() const { return finetuning_.phases.evaluation || finetuning_.phases.prediction; }

  // The best weights are chosen by scores while training.
  void note_evaluations_of_none() const {
    const OptionTable& table = finetuning_.table;
    constexpr const char* kOption = "evaluations_per_epoch";
    const bool trains = finetuning_.phases.training;
    if (trains && finetuning_.phases.evaluation) return;
    if (!table.is_asked_for(kOption) || table.comes_from_run(kOption)) return;
    say("note: {} has no effect: this run {}\n", kOption,
        trains ? "scores no dev data" : "trains nothing");
  }

  void note_losses_of_regression() const {
    constexpr const char* kOption = "on_high_loss";
    if (!task_.head().is_regression() || !finetuning_.table.is_asked_for(kOption)) return;
    say("note: {} has no effect: what an untrained model loses by regression is not known\n",
        kOption);
  }

  void finish_named() {
    const train::TrainingOptions& training = options_.training;
    const fs::path& named =
        training.restore_dir.empty() ? training.init_checkpoint : training.restore_dir;
    if (named.empty()) {
      throw_user_error("there are no weights to score; give init_checkpoint, or train");
    }
    if (options_.num_seeds > 1 && finetuning_.table.comes_from_run("num_seeds")) {
      throw_user_error("{} has runs of {} seeds; name one of them: --restore-dir {}",
                       named.string(), options_.num_seeds,
                       run_folder(options_, named, options_.training.step.seed).string());
    }
    if (options_.num_seeds > 1) {
      throw_user_error("num_seeds is {}, but nothing is trained; leave it out", options_.num_seeds);
    }
    finish(model_path(named), output_folder(options_));
  }

  void train_and_finish() {
    platform::install_stop_signals();
    refuse_earlier_seeds();
    try {
      train_seeds();
    } catch (const platform::Interruption&) {
      if (!has_begun()) throw;  // nothing is saved: the same command starts again
      end_saved_run(options_, platform::stop_signal());
    }
  }

  fs::path run_of_first_seed() const {
    return run_folder(options_, options_.training.save_path, first_seed_);
  }
  bool has_begun() const { return !train::checkpoint_steps(run_of_first_seed()).empty(); }

  // Training itself would name the folder of a seed, which resumes no other seed.
  void refuse_earlier_seeds() const {
    const train::TrainingOptions& training = options_.training;
    if (options_.num_seeds == 1 || !training.restore_dir.empty() || !has_begun()) return;
    throw_user_error(
        "save_path {} holds an earlier run of seeds, {}; resume it with --restore-dir {} or choose "
        "another folder",
        training.save_path.string(), run_of_first_seed().filename().string(),
        training.save_path.string());
  }

  void train_seeds() {
    const std::shared_ptr<const data::Dataset> dataset = task_.training_data();
    std::vector<tasks::SeedScores> runs;
    for (int64_t seed = first_seed_; seed < first_seed_ + options_.num_seeds; ++seed) {
      options_.training.step.seed = static_cast<uint32_t>(seed);
      const fs::path folder = run_folder(options_, options_.training.save_path, seed);
      const fs::path best = best_checkpoint(folder, train(dataset, folder));
      runs.push_back({seed, finish(best, run_folder(options_, output_folder(options_), seed))});
    }
    for (const std::string& line : tasks::describe_runs(runs)) fmt::print("{}\n", line);
    if (finetuning_.phases.evaluation && runs.size() > 1) write_summary(runs);
  }

  void write_summary(const std::vector<tasks::SeedScores>& runs) const {
    const fs::path file = output_folder(options_) / "seed_summary.json";
    platform::write_file_atomically(file, formats::json_text(tasks::seed_summary_json(runs)));
    say("wrote {}\n", file.string());
  }

  // Whether an earlier, stopped execution of this command has already continued the run here.
  bool went_on_here(const fs::path& run) const {
    if (train::checkpoint_steps(run).empty()) return false;
    const formats::Json stored = newest_options(run);
    return stored.value("restore_dir", "") == options_.training.restore_dir.string();
  }

  // Of several seeds, those that have begun go on: first those in save_path, and then those in
  // restore_dir.
  fs::path folder_to_resume() const {
    const train::TrainingOptions& training = options_.training;
    if (training.restore_dir.empty()) return {};
    const fs::path written = run_folder(options_, training.save_path, training.step.seed);
    if (options_.num_seeds > 1 && went_on_here(written)) return written;
    const fs::path folder = run_folder(options_, training.restore_dir, training.step.seed);
    if (options_.num_seeds == 1 || !train::checkpoint_steps(folder).empty()) return folder;
    const fs::path& start = training.init_checkpoint;
    say("{} has no checkpoint: seed {} starts from {}\n", folder.string(), training.step.seed,
        start.empty() ? "random weights" : start.string());
    return {};
  }

  train::TrainingState train(const std::shared_ptr<const data::Dataset>& dataset,
                             const fs::path& folder) {
    const int64_t steps = training_steps(options_, dataset->size(), 1);
    train::TrainingOptions run = training_options(options_, steps);
    run.step = step_of(options_, finetuning_.model, task_.head());
    run.save_path = folder;
    run.fresh_prefix = task_.fresh_prefix();
    run.restore_dir = folder_to_resume();
    run.dataset = dataset;
    run.tokens = finetuning_.model.tokenizer.vocabulary().tokens();
    run.tokenizer = finetuning_.model.tokenizer.options();
    run.extra_files = option_files(finetuning_.table);
    if (finetuning_.phases.evaluation && options_.evaluations_per_epoch > 0) {
      run.evaluation_steps = evaluation_steps(options_, dataset->size(), steps);
      run.evaluated_on = task_.evaluated_on();
      run.evaluate = [this](engine::Session& trained, int64_t step) {
        return evaluate(trained, step);
      };
    }
    const bool evaluates = run.evaluate != nullptr;
    return run_training(
        std::move(run), options_,
        evaluates ? evaluation_bytes(options_, finetuning_.model, task_.head()) : 0);
  }

  tasks::Scores finish(const fs::path& checkpoint, const fs::path& folder) {
    if (!has_output()) return {};
    if (!finetuning_.phases.training) print_memory();
    auto client = client_of(PackedModel::pack(model_at(checkpoint), compile_options()));
    platform::make_writable_directory(folder);
    try {
      return task_.finish(client, folder);
    } catch (const InferenceStopped&) {
      end_saved_run(options_, platform::stop_signal(), " while scoring");
    }
  }

  const engine::CompileOptions& machine() const { return options_.training.step.compile; }
  inference::PackOptions compile_options() const {
    return {.device = machine().device, .target = machine().target};
  }

  void print_memory() const {
    forecast::MemoryForecast memory;
    memory.add_inference(memory_to_infer(options_, finetuning_.model, task_.head()));
    say("{}\n", memory.text());
  }

  std::optional<double> evaluate(engine::Session& trained, int64_t step) {
    auto client = client_of(PackedModel::pack(model_at({}), trained, compile_options()));
    try {
      return task_.evaluate(client, step);
    } catch (const InferenceStopped&) {
      return std::nullopt;
    }
  }

  inference::PretrainedModel model_at(const fs::path& path) const {
    const StartModel& model = finetuning_.model;
    return {
        .path = path, .config = model.config, .head = task_.head(), .tokenizer = model.tokenizer};
  }
  inference::InferenceClient client_of(PackedModel model) const {
    return {std::make_shared<const PackedModel>(std::move(model)), machine().target.threads};
  }

  const Finetuning& finetuning_;
  FinetuneOptions& options_;
  const int64_t first_seed_ = options_.training.step.seed;
  tasks::FinetuningTask& task_;
};

}  // namespace

tasks::TaskOutput task_output(const FinetuneOptions& options, const StartModel& model) {
  return {.examine =
              [&](const std::string& file, const std::vector<std::string_view>& texts) {
                examine(file, texts, options, model);
              },
          .notice = [](const std::string& line) { say("{}\n", line); },
          .result = [](const std::string& line) { fmt::print("{}\n", line); },
          .watch =
              [](inference::InferenceClient& client, int64_t sequences) {
                return std::make_shared<InferenceDisplay>(client, sequences);
              }};
}

void print_plan(const FinetuneOptions& options, const StartModel& model,
                const models::BertHead& head) {
  const train::TrainingStepOptions step = step_of(options, model, head);
  forecast::MemoryForecast memory = memory_beside_step(options, step.capacity);
  memory.add("evaluation", evaluation_bytes(options, model, head));
  const plan::Program program = compiled(step);
  add_step(memory, options, program, saves_before_end(options));
  fmt::print("{}",
             describe_plan(step, program, batch_plan(options).sequences_per_step, memory, false));
  if (options.device_file.empty()) return;
  const plan::ProgramUse use = plan::use_of(program);
  const forecast::StepSeconds estimated =
      forecast::estimated_seconds(program, use, device_rates(options));
  fmt::print("{}", describe_run(options, {estimated.of_step(use, micro_batches_of_step(options)),
                                          estimated.source}));
}

void finetune(const Finetuning& finetuning, tasks::FinetuningTask& task) {
  FinetuneRuns(finetuning, task).run();
}

}  // namespace cloze::cli
