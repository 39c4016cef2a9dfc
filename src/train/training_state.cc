#include "train/training_state.h"

#include "base/error.h"
#include "formats/json.h"

namespace cloze::train {
namespace {

constexpr const char* kSchema = "cloze.training_state";
constexpr int kVersion = 1;

}  // namespace

std::string training_state_text(const TrainingState& state) {
  return formats::json_text({{"schema", kSchema},
                             {"version", kVersion},
                             {"step", state.step},
                             {"total_steps", state.total_steps},
                             {"samples", state.samples},
                             {"tokens", state.tokens},
                             {"epoch", state.epoch},
                             {"seed", state.seed},
                             {"config_hash", state.config_hash}});
}

TrainingState read_training_state(const std::filesystem::path& path) {
  const nlohmann::json json = formats::read_json_file(path);
  try {
    if (json.at("schema") != kSchema || json.at("version") != kVersion) {
      throw_data_error(
          "{}: version {} of the training state is not known; use the cloze that wrote it",
          path.string(), json.at("version").dump());
    }
    return {.step = json.at("step").get<int64_t>(),
            .total_steps = json.at("total_steps").get<int64_t>(),
            .samples = json.at("samples").get<int64_t>(),
            .tokens = json.at("tokens").get<int64_t>(),
            .epoch = json.at("epoch").get<double>(),
            .seed = json.at("seed").get<uint64_t>(),
            .config_hash = json.at("config_hash").get<std::string>()};
  } catch (const nlohmann::json::exception& error) {
    throw_data_error("{}: {}", path.string(), error.what());
  }
}

std::string trainer_state_text(const TrainingState& state, std::span<const StepMetrics> history) {
  nlohmann::ordered_json log = nlohmann::ordered_json::array();
  for (const StepMetrics& m : history) {
    log.push_back({{"epoch", m.epoch},
                   {"grad_norm", m.gradient_norm},
                   {"learning_rate", m.learning_rate},
                   {"loss", m.loss},
                   {"step", m.step}});
  }
  return formats::json_text({{"best_metric", nullptr},
                             {"best_model_checkpoint", nullptr},
                             {"epoch", state.epoch},
                             {"global_step", state.step},
                             {"is_hyper_param_search", false},
                             {"is_local_process_zero", true},
                             {"is_world_process_zero", true},
                             {"log_history", std::move(log)},
                             {"max_steps", state.total_steps},
                             {"num_input_tokens_seen", state.tokens},
                             {"stateful_callbacks", nlohmann::ordered_json::object()},
                             {"trial_name", nullptr},
                             {"trial_params", nullptr}});
}

}  // namespace cloze::train
