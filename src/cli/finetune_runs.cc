#include "cli/finetune_runs.h"

#include <fmt/core.h>

#include "base/error.h"
#include "cli/inference/inference_options.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;

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

}  // namespace

void finetune(FinetuneOptions& options, const Phases& phases, const FinetuneRun& run) {
  if (!phases.training) {
    const std::string& named =
        options.init_checkpoint.empty() ? options.restore_dir : options.init_checkpoint;
    if (named.empty()) {
      throw_user_error("there are no weights to score; give init_checkpoint, or train");
    }
    run.finish(model_path(named), output_folder(options, options.save_path));
    return;
  }
  const FinetuneOptions as_given = options;
  std::map<std::string, std::vector<double>> scores;
  for (int64_t seed = as_given.seed; seed < as_given.seed + as_given.num_seeds; ++seed) {
    options.seed = seed;
    options.save_path = run_folder(as_given, seed).string();
    const train::TrainingState state = run.train();
    const fs::path best = best_checkpoint(options.save_path, state);
    for (const auto& [name, value] : run.finish(best, output_folder(as_given, options.save_path))) {
      scores[name].push_back(value);
    }
  }
  for (const auto& [name, values] : scores) fmt::print("{} {}\n", name, describe_runs(values));
}

}  // namespace cloze::cli
