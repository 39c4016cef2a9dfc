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

inference::CompiledModel compile_model(const fs::path& path, DType precision) {
  return inference::CompiledModel::compile(inference::open_pretrained_model(model_path(path)),
                                           precision);
}

std::shared_ptr<const inference::CompiledModel> open_model(const fs::path& path) {
  using inference::CompiledModel;
  return std::make_shared<const CompiledModel>(CompiledModel::is_compiled(path)
                                                   ? CompiledModel::open(path)
                                                   : compile_model(path, DType::kF32));
}

DType precision_named(const std::string& name) {
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    if (name == name_of(dtype)) return dtype;
  }
  throw_user_error("--precision is {}; choose f32 or bf16", name);
}

}  // namespace cloze::cli
