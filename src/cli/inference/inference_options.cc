#include "cli/inference/inference_options.h"

#include <fmt/format.h>

#include "base/error.h"
#include "formats/tf_checkpoint.h"
#include "train/checkpoint.h"

namespace cloze::cli {

namespace fs = std::filesystem;

fs::path model_path(const fs::path& path) {
  if (fs::exists(path / "config.json")) return path;
  if (const auto tensorflow = formats::find_tf_checkpoint(path)) return *tensorflow;
  const fs::path newest = train::find_checkpoint(path).path;
  const train::TrainingState state = train::read_training_state(newest / train::kStateName);
  const fs::path best = newest.parent_path() / fmt::format("checkpoint-{}", state.best_step);
  return state.best_metric && fs::exists(best) ? best : newest;
}

inference::CompiledModel compile_model(const fs::path& path,
                                       const inference::CompileOptions& options) {
  return inference::CompiledModel::compile(inference::open_pretrained_model(model_path(path)),
                                           options);
}

std::shared_ptr<const inference::CompiledModel> open_model(const fs::path& path) {
  using inference::CompiledModel;
  return std::make_shared<const CompiledModel>(
      CompiledModel::is_compiled(path) ? CompiledModel::open(path) : compile_model(path, {}));
}

void add_compile_flags(Subcommand& command, CompileFlags& flags) {
  command
      .add_option("--precision", flags.precision,
                  "What weights are packed in: f32, or bf16 (half the memory traffic; computed in "
                  "f32 unless the processor multiplies bf16 itself)")
      .shows_default();
  command.add_flag("--strassen", flags.strassen,
                   "Multiply by Strassen's algorithm: an eighth fewer multiplications, 1.75 times "
                   "the size, other roundings");
}

inference::CompileOptions compile_options(const CompileFlags& flags) {
  inference::CompileOptions options{.strassen = flags.strassen};
  if (flags.precision == name_of(DType::kBF16)) {
    options.precision = DType::kBF16;
  } else if (flags.precision != name_of(DType::kF32)) {
    throw_user_error("--precision is {}; choose f32 or bf16", flags.precision);
  }
  if (options.strassen && options.precision != DType::kF32) {
    throw_user_error(
        "--strassen adds weights, which bf16 would round once more: leave out "
        "--precision {}",
        flags.precision);
  }
  return options;
}

}  // namespace cloze::cli
