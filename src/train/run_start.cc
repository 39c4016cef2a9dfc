#include "train/run_start.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "checkpoints/hugging_face_config.h"
#include "feed/parameter_loading.h"
#include "formats/json.h"
#include "platform/files/file.h"
#include "platform/phase.h"
#include "train/initial_values.h"
#include "train/run_identity.h"
#include "train/saving/manifest.h"

namespace cloze::train {
namespace {

namespace fs = std::filesystem;
using feed::MatchedTensors;
using graph::VariableRole;

// A BERT's identity does not name its variant (train/run_identity.h).
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

// Each of the ranks that share a model writes the parameters that it has.
void write_fresh_values(Run& run) {
  engine::Session& session = run.step.session();
  for (const auto& [name, values] : run.options.fresh_values) {
    if (session.graph().find(name)) session.write<float>(name, values);
  }
}

void start_fresh(Run& run, const CheckpointStore& store) {
  if (const std::vector<int64_t> steps = checkpoint_steps(store.folder()); !steps.empty()) {
    throw_user_error(
        "save_path {} holds checkpoint-{} of an earlier run; resume it with --restore-dir {} or "
        "choose another folder",
        run.options.save_path.string(), steps.front(), run.options.save_path.string());
  }
  run.state = {.total_steps = run.options.num_steps,
               .seed = run.options.step.seed,
               .evaluated_on = run.options.evaluated_on,
               .identity = run_identity(run.options)};
  run.step.session().initialize_parameters(run.options.step.seed,
                                           run.options.step.compile.target.threads);
  write_fresh_values(run);
  if (!run.options.init_checkpoint.empty()) load_initial_values(run);
}

void require_same_run(Run& run, const fs::path& checkpoint) {
  formats::Json identity = run_identity(run.options);
  if (run.state.identity.empty()) {
    run.notice(fmt::format(
        "{} does not say what it was made with: it is not known whether batch, seed and data are "
        "the same",
        checkpoint.string()));
  }
  formats::Json there = run.state.identity, here = identity;
  if (checkpoints::has_configuration(checkpoint)) {
    there[kGroupBert] = is_groupbert(checkpoint);
    here[kGroupBert] = run.options.step.model.groupbert;
  }
  if (const std::string differences = formats::value_differences(there, here, "this run has");
      !differences.empty()) {
    throw_user_error(
        "{} was made with {}; resume with the same, or start a new run with --init-checkpoint {}",
        checkpoint.string(), differences, checkpoint.string());
  }
  run.state.identity = std::move(identity);
}

// Whether the checkpoint lies in the run's own folder.
bool is_in(const CheckpointStore& store, const fs::path& checkpoint) {
  return fs::equivalent(fs::canonical(checkpoint).parent_path(), store.folder());
}

// Whether the checkpoint of this step in the run's folder is a copy of `checkpoint`, or of the best
// so far beside it.
bool is_copy(const Run& run, const CheckpointStore& store, int64_t step,
             const fs::path& checkpoint) {
  const bool is_best = run.state.best_metric && step == run.state.best_step;
  if (step != run.state.step && !is_best) return false;
  const fs::path source =
      step == run.state.step
          ? checkpoint
          : checkpoint_path(fs::canonical(checkpoint).parent_path(), run.state.best_step);
  const fs::path there = source / kManifestName;
  const fs::path here = checkpoint_path(store.folder(), step) / kManifestName;
  return fs::exists(there) && fs::exists(here) &&
         platform::read_file(there) == platform::read_file(here);
}

// Other checkpoints would be mistaken for newer ones of this run. Damaged ones were skipped; copies
// may be there from an earlier start (adopt_best).
void require_newest(const Run& run, const CheckpointStore& store, const fs::path& checkpoint) {
  const bool is_own = is_in(store, checkpoint);
  for (const int64_t step : checkpoint_steps(store.folder())) {
    const fs::path other = checkpoint_path(store.folder(), step);
    const bool is_older = is_own && step <= run.state.step;
    if (is_older || (!is_own && is_copy(run, store, step, checkpoint)) || find_damage(other))
      continue;
    throw_user_error(
        "{} is there, and a run that resumes from {} could not distinguish it from its own "
        "checkpoints; choose another save_path, move it away, or resume with --restore-dir {}",
        other.string(), checkpoint.string(), store.folder().string());
  }
}

// Copies the best checkpoint so far into another folder, because at the end it may still be the
// best. The restored checkpoint is copied first: otherwise the best would be the newest one there
// until the first save.
void adopt_best(Run& run, CheckpointStore& store, const fs::path& checkpoint) {
  if (!run.state.best_metric) return;
  const fs::path best =
      checkpoint_path(fs::canonical(checkpoint).parent_path(), run.state.best_step);
  if (const std::optional<std::string> damage = find_damage(best)) {
    run.notice(
        fmt::format("{}, the best so far, cannot be kept ({}); the best of the later ones will be",
                    best.string(), *damage));
    run.state.forget_best();
    return;
  }
  if (is_in(store, checkpoint)) return;
  store.adopt(checkpoint, run.state.step);
  store.adopt(best, run.state.best_step);
}

// The first rank's folder is the run's: what is in it decides for all. Those of the others hold
// nothing but logs.
void take_folder(Run& run, Saver& saver, const fs::path& checkpoint) {
  struct Found {
    bool is_own = false, has_best = false;
  };
  Found found;
  if (run.is_first_rank()) {
    adopt_best(run, saver.store(), checkpoint);
    found = {is_in(saver.store(), checkpoint), run.state.best_metric.has_value()};
  }
  const Found first = run.step.ranks().all_gather(found).front();
  if (first.is_own) saver.take_as_saved();
  if (!first.has_best) run.state.forget_best();
}

void restore(Run& run, Saver& saver, Evaluator& evaluator) {
  platform::enter_phase("restoring");
  const FoundCheckpoint found = checkpoint_in(run.options.restore_dir, run.options.restore_from);
  for (const std::string& skipped : found.skipped) run.notice("skipped " + skipped);
  const OpenCheckpoint checkpoint(found.path);
  run.state = checkpoint.state;
  require_same_run(run, found.path);
  const bool has_dropped_scores = evaluator.drop_other_scores();
  if (run.is_first_rank()) require_newest(run, saver.store(), found.path);
  load_checkpoint(run, checkpoint);
  require_finite_start(run, found.path);
  take_folder(run, saver, found.path);
  if (has_dropped_scores) saver.take_as_unsaved();
  run.notice(fmt::format("resumed from {} at step {} of {}", found.path.string(), run.state.step,
                         run.options.num_steps));
}

}  // namespace

void load_checkpoint(Run& run, const OpenCheckpoint& checkpoint) {
  engine::Session& session = run.step.session();
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
  run.history = read_trainer_history(checkpoint.model.path().parent_path() / kTrainerStateName);
  run.state.logged_steps = std::max(run.state.logged_steps, std::ssize(run.history));
  run.state.total_steps = run.options.num_steps;
}

void start(Run& run, Saver& saver, Evaluator& evaluator) {
  run.options.restore_dir.empty() ? start_fresh(run, saver.store())
                                  : restore(run, saver, evaluator);
}

}  // namespace cloze::train
