#include "train/saving/training_state.h"

#include <bit>

#include "base/error.h"
#include "formats/json.h"
#include "train/saving/checkpoint.h"

namespace cloze::train {
namespace {

constexpr const char* kStateSchema = "cloze.training_state";
constexpr int kStateVersion = 2;
constexpr int kStateVersionWithoutIdentity = 1;

formats::Json best_checkpoint_of(const TrainingState& state) {
  if (!state.best_metric) return nullptr;
  return checkpoint_path({}, state.best_step).string();
}

std::optional<double> number_or_nothing(const formats::Json& value) {
  return value.is_null() ? std::nullopt : std::optional(value.get<double>());
}

formats::Json identity_of(const formats::Json& json) {
  if (json.at("version") == kStateVersionWithoutIdentity) return formats::Json::object();
  return json.at("identity");
}

formats::Json json_of(const LossScaleState& state) {
  return {{"dynamic", formats::or_null(state.dynamic)},
          {"good_steps", state.good_steps},
          {"overflows", state.overflows}};
}

// Checkpoints of runs without a loss scale lack it.
LossScaleState loss_scale_of(const formats::Json& json) {
  const auto found = json.find("loss_scale");
  if (!found) return {};
  return {.dynamic = number_or_nothing(found->at("dynamic")),
          .good_steps = found->at("good_steps").get<int64_t>(),
          .overflows = found->at("overflows").get<int64_t>()};
}

formats::Json json_of(const WatchState& state) {
  return {{"losses", state.losses.count},
          {"mean_loss", state.losses.mean},
          {"loss_variance", state.losses.variance},
          {"high_losses", state.high_losses},
          {"skips", state.skips},
          {"roll_backs", state.roll_backs},
          {"rolled_back_to", state.rolled_back_to}};
}

// Older checkpoints lack it.
WatchState watch_of(const formats::Json& json) {
  const auto found = json.find("watch");
  if (!found) return {};
  return {.losses = {.count = found->at("losses").get<int64_t>(),
                     .mean = found->at("mean_loss").get<double>(),
                     .variance = found->at("loss_variance").get<double>()},
          .high_losses = found->value("high_losses", int64_t{0}),
          .skips = found->at("skips").get<int64_t>(),
          .roll_backs = found->at("roll_backs").get<int64_t>(),
          .rolled_back_to = found->at("rolled_back_to").get<int64_t>()};
}

formats::Json json_of(const EarlyStoppingState& state) {
  return {{"gained", formats::or_null(state.gained)}, {"without_gain", state.without_gain}};
}

// Older checkpoints lack it.
EarlyStoppingState early_stopping_of(const formats::Json& json) {
  const auto found = json.find("early_stopping");
  if (!found) return {};
  return {.gained = number_or_nothing(found->at("gained")),
          .without_gain = found->at("without_gain").get<int64_t>()};
}

// Of line `index` and those before it, one in every so many is kept.
int64_t spacing_at(int64_t index) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(index / kMostHistory + 1)));
}

// Those at an even place.
void keep_half(std::vector<StepMetrics>& history) {
  size_t kept = 0;
  for (size_t i = 0; i < history.size(); i += 2) std::swap(history[kept++], history[i]);
  history.resize(kept);
}

}  // namespace

std::string training_state_text(const TrainingState& state) {
  return formats::json_text({{"schema", kStateSchema},
                             {"version", kStateVersion},
                             {"step", state.step},
                             {"total_steps", state.total_steps},
                             {"samples", state.samples},
                             {"tokens", state.tokens},
                             {"epoch", state.epoch},
                             {"seed", state.seed},
                             {"best_metric", formats::or_null(state.best_metric)},
                             {"best_step", state.best_step},
                             {"evaluated_step", state.evaluated_step},
                             {"evaluated_on", state.evaluated_on},
                             {"early_stopping", json_of(state.early_stopping)},
                             {"skipped_steps", state.skipped_steps},
                             {"loss_scale", json_of(state.loss_scale)},
                             {"watch", json_of(state.watch)},
                             {"logged_steps", state.logged_steps},
                             {"identity", state.identity}});
}

TrainingState read_training_state(const std::filesystem::path& path) {
  const formats::Json json = formats::read_json_file(path);
  try {
    const bool is_known =
        json.at("version") == kStateVersion || json.at("version") == kStateVersionWithoutIdentity;
    if (json.at("schema") != kStateSchema || !is_known) {
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
            .best_metric = number_or_nothing(json.value("best_metric", formats::Json())),
            .best_step = json.value("best_step", int64_t{0}),
            .evaluated_step = json.value("evaluated_step", int64_t{0}),
            .evaluated_on = json.value("evaluated_on", ""),
            .early_stopping = early_stopping_of(json),
            .skipped_steps = json.value("skipped_steps", int64_t{0}),
            .loss_scale = loss_scale_of(json),
            .watch = watch_of(json),
            .logged_steps = json.value("logged_steps", int64_t{0}),
            .identity = identity_of(json)};
  } catch (const formats::JsonError& error) {
    throw_data_error("{}: {}", path.string(), error.what());
  }
}

void add_to_history(std::vector<StepMetrics>& history, const StepMetrics& metrics, int64_t logged) {
  const int64_t spacing = spacing_at(logged);
  if (logged > 0 && spacing > spacing_at(logged - 1)) keep_half(history);
  if (logged % spacing == 0) history.push_back(metrics);
}

std::string trainer_state_text(const TrainingState& state, std::span<const StepMetrics> history) {
  formats::Json log = formats::Json::array();
  for (const StepMetrics& m : history) {
    log.push_back({{"epoch", m.epoch},
                   {"grad_norm", m.gradient_norm},
                   {"learning_rate", m.learning_rate},
                   {"loss", m.loss},
                   {"step", m.step}});
  }
  return formats::json_text({{"best_metric", formats::or_null(state.best_metric)},
                             {"best_model_checkpoint", best_checkpoint_of(state)},
                             {"epoch", state.epoch},
                             {"global_step", state.step},
                             {"is_hyper_param_search", false},
                             {"is_local_process_zero", true},
                             {"is_world_process_zero", true},
                             {"log_history", std::move(log)},
                             {"max_steps", state.total_steps},
                             {"num_input_tokens_seen", state.tokens},
                             {"stateful_callbacks", formats::Json::object()},
                             {"trial_name", nullptr},
                             {"trial_params", nullptr}});
}

std::vector<StepMetrics> read_trainer_history(const std::filesystem::path& path) {
  const formats::Json json = formats::read_json_file(path);
  std::vector<StepMetrics> history;
  try {
    for (const formats::Json& line : json.at("log_history")) {
      history.push_back({.step = line.at("step").get<int64_t>(),
                         .epoch = formats::number_or_nan(line.at("epoch")),
                         .loss = formats::number_or_nan(line.at("loss")),
                         .learning_rate = formats::number_or_nan(line.at("learning_rate")),
                         .gradient_norm = formats::number_or_nan(line.at("grad_norm"))});
    }
  } catch (const formats::JsonError& error) {
    throw_data_error("{}: {}", path.string(), error.what());
  }
  return history;
}

}  // namespace cloze::train
