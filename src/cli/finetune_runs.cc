#include "cli/finetune_runs.h"

#include <fmt/core.h>

#include "base/error.h"
#include "cli/inference/inference_options.h"
#include "cli/training_run.h"
#include "formats/json.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;
using inference::CompiledModel;

fs::path run_folder(const FinetuneOptions& options, int64_t seed) {
  if (options.num_seeds == 1) return options.save_path;
  return fs::path(options.save_path) / fmt::format("seed-{}", seed);
}

fs::path best_checkpoint(const std::string& save_path, const train::TrainingState& state) {
  const int64_t step = state.best_metric ? state.best_step : state.step;
  return fs::path(save_path) / fmt::format("checkpoint-{}", step);
}

fs::path output_folder(const FinetuneOptions& options, const fs::path& run_folder) {
  if (options.output_dir.empty()) return run_folder;
  return options.num_seeds == 1 ? fs::path(options.output_dir)
                                : options.output_dir / run_folder.filename();
}

class FinetuneRuns {
 public:
  FinetuneRuns(const Finetuning& finetuning, FinetuneTask& task)
      : finetuning_(finetuning), options_(finetuning.options), task_(task) {}

  void run() {
    if (finetuning_.phases.training) {
      train_and_finish();
    } else {
      finish_named();
    }
  }

 private:
  void finish_named() {
    const std::string& named =
        options_.init_checkpoint.empty() ? options_.restore_dir : options_.init_checkpoint;
    if (named.empty()) {
      throw_user_error("there are no weights to score; give init_checkpoint, or train");
    }
    finish(model_path(named), output_folder(options_, options_.save_path));
  }

  void train_and_finish() {
    const FinetuneOptions as_given = options_;
    const std::shared_ptr<const data::Dataset> dataset = task_.training_data();
    std::map<std::string, std::vector<double>> scores;
    for (int64_t seed = as_given.seed; seed < as_given.seed + as_given.num_seeds; ++seed) {
      options_.seed = seed;
      options_.save_path = run_folder(as_given, seed).string();
      const fs::path best = best_checkpoint(options_.save_path, train(dataset));
      for (const auto& [name, value] : finish(best, output_folder(as_given, options_.save_path))) {
        scores[name].push_back(value);
      }
    }
    for (const auto& [name, values] : scores) fmt::print("{} {}\n", name, describe_runs(values));
  }

  train::TrainingState train(const std::shared_ptr<const data::Dataset>& dataset) {
    const int64_t steps = training_steps(options_, dataset->size(), 1);
    train::TrainingOptions run = training_options(options_, steps);
    run.step.model = finetuning_.model.config;
    run.step.head = task_.head();
    run.dataset = dataset;
    run.tokens = finetuning_.model.tokenizer.vocabulary().tokens();
    run.lower_case = finetuning_.model.lower_case;
    run.extra_files.push_back(
        {"training_config.json", formats::json_text(finetuning_.table.values())});
    if (finetuning_.phases.evaluation && options_.evaluations_per_epoch > 0) {
      run.steps_per_evaluation = steps_per_evaluation(options_, dataset->size(), steps);
      run.evaluate = [this](engine::Session& trained, int64_t step) {
        auto client = client_of(CompiledModel::compile(model_at({}), trained, {}));
        return task_.evaluate(client, step);
      };
    }
    return run_training(std::move(run), options_);
  }

  Scores finish(const fs::path& checkpoint, const fs::path& folder) {
    if (!finetuning_.phases.evaluation && !finetuning_.phases.prediction) return {};
    auto client = client_of(CompiledModel::compile(model_at(checkpoint), {}));
    fs::create_directories(folder);
    return task_.finish(client, folder);
  }

  inference::PretrainedModel model_at(const fs::path& path) const {
    const StartModel& model = finetuning_.model;
    return {
        .path = path, .config = model.config, .head = task_.head(), .tokenizer = model.tokenizer};
  }
  inference::InferenceClient client_of(CompiledModel model) const {
    return {std::make_shared<const CompiledModel>(std::move(model)),
            static_cast<int>(options_.threads)};
  }

  const Finetuning& finetuning_;
  FinetuneOptions& options_;
  FinetuneTask& task_;
};

}  // namespace

void finetune(const Finetuning& finetuning, FinetuneTask& task) {
  FinetuneRuns(finetuning, task).run();
}

}  // namespace cloze::cli
