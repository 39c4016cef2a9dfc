// How a run begins: afresh, from start values, or from a checkpoint of its own.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/bfloat16.h"
#include "base/error.h"
#include "base/float16.h"
#include "checkpoints/hugging_face_config.h"
#include "checkpoints/stored_variant.h"
#include "checkpoints/tensor_names.h"
#include "feed/parameter_loading.h"
#include "formats/json.h"
#include "platform/files/file.h"
#include "platform/phase.h"
#include "train/saving/manifest.h"
#include "train/saving/run_identity.h"
#include "train/training.h"

namespace cloze::train {
namespace {

namespace fs = std::filesystem;
using feed::MatchedTensors;
using graph::VariableRole;

// A BERT's identity does not name its variant (saving/run_identity.h).
constexpr const char* kGroupBert = "groupbert";
bool is_groupbert(const fs::path& checkpoint) {
  return checkpoints::read_hugging_face_config(checkpoints::configuration_of(checkpoint)).groupbert;
}

// A moment is scaled by a factor that depends on its dtype.
void require_same_types(const graph::Graph& graph, const std::vector<feed::WantedTensor>& wanted,
                        const MatchedTensors& matched, const fs::path& path) {
  for (size_t i = 0; i < wanted.size(); ++i) {
    const DType there = matched.views[i]->dtype;
    const DType here = graph.type(*graph.find(wanted[i].name)).dtype;
    if (there == here) continue;
    throw_user_error(
        "{} keeps {} in {}, but this run keeps it in {}; resume with first_moment_precision {}",
        path.string(), wanted[i].name, name_of(there), name_of(here), name_of(there));
  }
}

// Each once, in the order of the ranks.
std::vector<std::string> names_of_any(comm::Communicator& ranks,
                                      const std::vector<std::string>& own) {
  std::vector<std::string> names;
  for (const std::vector<std::string>& theirs : ranks.all_gather(own)) {
    for (const std::string& name : theirs) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

// How many tensors the ranks want between them.
size_t count_of_all(comm::Communicator& ranks, const std::vector<feed::WantedTensor>& wanted) {
  std::vector<std::string> names;
  for (const feed::WantedTensor& tensor : wanted) names.push_back(tensor.name);
  return names_of_any(ranks, names).size();
}

template <typename Half>
std::vector<std::byte> narrowed(std::span<const float> values, double scale) {
  std::vector<Half> halves;
  for (const float value : values) halves.push_back(Half(static_cast<float>(scale * value)));
  const auto bytes = std::as_bytes(std::span(halves));
  return {bytes.begin(), bytes.end()};
}

// Writes the moments that are kept in half precision, and takes them out of `matched`.
void write_half_moments(engine::Session& session, const std::vector<feed::WantedTensor>& wanted,
                        MatchedTensors& matched, const optim::OptimizerOptions& options) {
  for (size_t i = 0; i < wanted.size(); ++i) {
    const DType dtype = session.graph().type(session.value(wanted[i].name)).dtype;
    if (matched.views[i] == nullptr || dtype == DType::kF32) continue;
    std::vector<float> values(static_cast<size_t>(wanted[i].shape.elements()));
    feed::copy_as_float(*matched.views[i], values);
    const double scale = options.first_moment_scale();
    session.write<std::byte>(wanted[i].name, dtype == DType::kF16
                                                 ? narrowed<float16>(values, scale)
                                                 : narrowed<bfloat16>(values, scale));
    matched.views[i] = nullptr;
  }
}

// A tensor is missing if any rank misses it, and unused if no rank uses it.
void share_names(comm::Communicator& ranks, MatchedTensors& matched) {
  matched.missing = names_of_any(ranks, matched.missing);
  std::map<std::string, int> unused;
  for (const std::vector<std::string>& theirs : ranks.all_gather(matched.unused)) {
    for (const std::string& name : theirs) ++unused[name];
  }
  std::erase_if(matched.unused,
                [&](const std::string& name) { return unused[name] < ranks.size(); });
}

}  // namespace

void Training::start_fresh() {
  if (const std::vector<int64_t> steps = checkpoint_steps(store_.folder()); !steps.empty()) {
    throw_user_error(
        "save_path {} holds checkpoint-{} of an earlier run; resume it with --restore-dir {} or "
        "choose another folder",
        options_.save_path.string(), steps.front(), options_.save_path.string());
  }
  state_ = {.total_steps = options_.num_steps,
            .seed = options_.step.seed,
            .evaluated_on = options_.evaluated_on,
            .identity = run_identity(options_)};
  step_.session().initialize_parameters(options_.step.seed);
  if (!options_.init_checkpoint.empty()) load_initial_parameters();
}

void Training::load_initial_parameters() {
  const checkpoints::StoredModel file(options_.init_checkpoint);
  checkpoints::require_variant(file, options_.step.model.groupbert);
  const auto wanted = feed::wanted_tensors(step_.session().graph(), VariableRole::kParameter);
  std::vector<formats::TensorView> tensors = file.tensors();
  std::erase_if(tensors, [&](const formats::TensorView& tensor) {
    return !options_.fresh_prefix.empty() && tensor.name.starts_with(options_.fresh_prefix);
  });
  MatchedTensors matched = feed::match_tensors(tensors, file.path(), wanted);
  size_t count = wanted.size();
  if (step_.is_divided()) {
    share_names(step_.ranks(), matched);
    count = count_of_all(step_.ranks(), wanted);
  }
  if (matched.missing.size() == count) feed::require_all(matched, file.path());
  matched.unused.insert(matched.unused.end(), file.unknown().begin(), file.unknown().end());
  feed::require_whole_layers(tensors, matched, file.path());
  feed::copy_tensors(step_.session(), wanted, matched, [&] { file.release_memory(); });
  notice_(fmt::format("initial values from {}", file.path().string()));
  if (!matched.missing.empty()) {
    notice_(fmt::format("  {} tensors are not in it and are initialised afresh: {}",
                        matched.missing.size(), checkpoints::list_names(matched.missing)));
  }
  load_initial_moments(file);
  require_finite_start(file.path());
  if (!matched.unused.empty()) {
    notice_(fmt::format("  {} of its tensors are not used here: {}", matched.unused.size(),
                        checkpoints::list_names(matched.unused)));
  }
}

void Training::load_initial_moments(const checkpoints::StoredModel& file) {
  if (options_.init_optimizer == InitOptimizer::kFresh) {
    if (file.training_state().empty()) return;
    notice_(fmt::format("  {} tensors of its optimiser's state are not carried over",
                        file.training_state().size()));
    return;
  }
  const checkpoints::ConvertedTensors moments = file.moments();
  const auto wanted = feed::wanted_tensors(step_.session().graph(), VariableRole::kOptimizerState);
  MatchedTensors matched = feed::match_tensors(moments.tensors, file.path(), wanted);
  size_t count = wanted.size();
  if (step_.is_divided()) {
    share_names(step_.ranks(), matched);
    count = count_of_all(step_.ranks(), wanted);
  }
  if (matched.missing.size() == count) {
    throw_user_error(
        "init_optimizer asks for moments, but {} holds none that optimizer {} uses; choose "
        "init_optimizer fresh",
        file.path().string(), options_.step.optimizer.name);
  }
  write_half_moments(step_.session(), wanted, matched, options_.step.optimizer);
  feed::copy_tensors(step_.session(), wanted, matched, [&] { file.release_memory(); });
  notice_(fmt::format("  {} moments of its optimiser are used", count - matched.missing.size()));
  if (!matched.missing.empty()) {
    notice_(fmt::format("  {} moments are not in it and start at zero: {}", matched.missing.size(),
                        checkpoints::list_names(matched.missing)));
  }
  if (options_.init_optimizer == InitOptimizer::kMomentsAndStep) take_initial_step(file);
}

void Training::take_initial_step(const checkpoints::StoredModel& file) {
  const int64_t step = file.global_step().value_or(-1);
  if (step < 0) {
    throw_user_error("{} holds no global_step; choose init_optimizer moments",
                     file.path().string());
  }
  if (step >= options_.num_steps) {
    throw_user_error(
        "{} was saved after step {}, but this run ends after step {}; raise num_train_steps, or "
        "choose init_optimizer moments",
        file.path().string(), step, options_.num_steps);
  }
  state_.step = step;
  state_.samples = step * options_.global_batch_size;
  notice_(fmt::format("  training continues after step {}", step));
}

void Training::restore() {
  platform::enter_phase("restoring");
  const FoundCheckpoint found = checkpoint_in(options_.restore_dir, options_.restore_from);
  for (const std::string& skipped : found.skipped) notice_("skipped " + skipped);
  const OpenCheckpoint checkpoint(found.path);
  state_ = checkpoint.state;
  require_same_run(found.path);
  const bool has_dropped_scores = drop_other_scores();
  if (is_first_rank()) require_newest(found.path);
  load(checkpoint);
  require_finite_start(found.path);
  take_folder(found.path);
  if (has_dropped_scores) last_saved_step_ = -1;
  notice_(fmt::format("resumed from {} at step {} of {}", found.path.string(), state_.step,
                      options_.num_steps));
}

void Training::load(const OpenCheckpoint& checkpoint) {
  engine::Session& session = step_.session();
  const std::pair<VariableRole, const formats::SafetensorsFile*> parts[] = {
      {VariableRole::kParameter, &checkpoint.model},
      {VariableRole::kOptimizerState, &checkpoint.optimizer}};
  for (const auto& [role, file] : parts) {
    const auto wanted = feed::wanted_tensors(session.graph(), role);
    const MatchedTensors matched = feed::match_tensors(file->tensors(), file->path(), wanted);
    feed::require_all(matched, file->path());
    if (role == VariableRole::kOptimizerState) {
      require_same_types(session.graph(), wanted, matched, file->path());
    }
    feed::copy_tensors(session, wanted, matched, [&file = *file] { file.release_memory(); });
  }
  history_ = read_trainer_history(checkpoint.model.path().parent_path() / kTrainerStateName);
  state_.logged_steps = std::max(state_.logged_steps, std::ssize(history_));
  state_.total_steps = options_.num_steps;
}

void Training::require_same_run(const fs::path& checkpoint) {
  formats::Json identity = run_identity(options_);
  if (state_.identity.empty()) {
    notice_(fmt::format(
        "{} does not say what it was made with: it is not known whether batch, seed and data are "
        "the same",
        checkpoint.string()));
  }
  formats::Json there = state_.identity, here = identity;
  if (checkpoints::has_configuration(checkpoint)) {
    there[kGroupBert] = is_groupbert(checkpoint);
    here[kGroupBert] = options_.step.model.groupbert;
  }
  if (const std::string differences = formats::value_differences(there, here, "this run has");
      !differences.empty()) {
    throw_user_error(
        "{} was made with {}; resume with the same, or start a new run with --init-checkpoint {}",
        checkpoint.string(), differences, checkpoint.string());
  }
  state_.identity = std::move(identity);
}

bool Training::is_in_own_folder(const fs::path& checkpoint) const {
  return fs::equivalent(fs::canonical(checkpoint).parent_path(), store_.folder());
}

// Other checkpoints would be mistaken for newer ones of this run. Damaged ones were skipped; copies
// may be there from an earlier start (adopt_best).
void Training::require_newest(const fs::path& checkpoint) const {
  const bool is_own = is_in_own_folder(checkpoint);
  for (const int64_t step : checkpoint_steps(store_.folder())) {
    const fs::path other = checkpoint_path(store_.folder(), step);
    const bool is_older = is_own && step <= state_.step;
    if (is_older || (!is_own && is_copy(step, checkpoint)) || find_damage(other)) continue;
    throw_user_error(
        "{} is there, and a run that resumes from {} could not distinguish it from its own "
        "checkpoints; choose another save_path, move it away, or resume with --restore-dir {}",
        other.string(), checkpoint.string(), store_.folder().string());
  }
}

// Whether the checkpoint of this step in the run's folder is a copy of `checkpoint`, or of the best
// so far beside it.
bool Training::is_copy(int64_t step, const fs::path& checkpoint) const {
  const bool is_best = state_.best_metric && step == state_.best_step;
  if (step != state_.step && !is_best) return false;
  const fs::path source =
      step == state_.step
          ? checkpoint
          : checkpoint_path(fs::canonical(checkpoint).parent_path(), state_.best_step);
  const fs::path there = source / kManifestName;
  const fs::path here = checkpoint_path(store_.folder(), step) / kManifestName;
  return fs::exists(there) && fs::exists(here) &&
         platform::read_file(there) == platform::read_file(here);
}

// The first rank's folder is the run's: what is in it decides for all. Those of the others hold
// nothing but logs.
void Training::take_folder(const fs::path& checkpoint) {
  struct Found {
    bool is_own = false, has_best = false;
  };
  Found found;
  if (is_first_rank()) {
    adopt_best(checkpoint);
    found = {is_in_own_folder(checkpoint), state_.best_metric.has_value()};
  }
  const Found first = step_.ranks().all_gather(found).front();
  if (first.is_own) last_saved_step_ = state_.step;
  if (!first.has_best) state_.best_metric.reset();
}

// Copies the best checkpoint so far into another folder, because at the end it may still be the
// best. The restored checkpoint is copied first: otherwise the best would be the newest one there
// until the first save.
void Training::adopt_best(const fs::path& checkpoint) {
  if (!state_.best_metric) return;
  const fs::path best = checkpoint_path(fs::canonical(checkpoint).parent_path(), state_.best_step);
  if (const std::optional<std::string> damage = find_damage(best)) {
    notice_(
        fmt::format("{}, the best so far, cannot be kept ({}); the best of the later ones will be",
                    best.string(), *damage));
    state_.best_metric.reset();
    return;
  }
  if (is_in_own_folder(checkpoint)) return;
  store_.adopt(checkpoint, state_.step);
  store_.adopt(best, state_.best_step);
}

// If the state is not finite from the start, no step can tell where that came from.
void Training::require_finite_start(const fs::path& source) {
  if (const auto found = find_non_finite_state(step_)) {
    throw_data_error("{}: {} is not finite; take another checkpoint", source.string(), *found);
  }
}

}  // namespace cloze::train
