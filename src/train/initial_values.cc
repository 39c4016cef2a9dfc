#include "train/initial_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/bfloat16.h"
#include "base/error.h"
#include "base/float16.h"
#include "checkpoints/stored_model.h"
#include "checkpoints/stored_variant.h"
#include "checkpoints/tensor_names.h"
#include "feed/parameter_loading.h"
#include "train/divergence.h"

namespace cloze::train {
namespace {

using feed::MatchedTensors;
using graph::VariableRole;

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

void take_initial_step(Run& run, const checkpoints::StoredModel& file) {
  const int64_t step = file.global_step().value_or(-1);
  if (step < 0) {
    throw_user_error("{} holds no global_step; choose init_optimizer moments",
                     file.path().string());
  }
  if (step >= run.options.num_steps) {
    throw_user_error(
        "{} was saved after step {}, but this run ends after step {}; raise num_train_steps, or "
        "choose init_optimizer moments",
        file.path().string(), step, run.options.num_steps);
  }
  run.state.step = step;
  run.state.samples = step * run.options.global_batch_size;
  run.notice(fmt::format("  training continues after step {}", step));
}

void load_initial_moments(Run& run, const checkpoints::StoredModel& file) {
  if (run.options.init_optimizer == InitOptimizer::kFresh) {
    if (file.training_state().empty()) return;
    run.notice(fmt::format("  {} tensors of its optimiser's state are not carried over",
                           file.training_state().size()));
    return;
  }
  const checkpoints::ConvertedTensors moments = file.moments();
  const auto wanted =
      feed::wanted_tensors(run.step.session().graph(), VariableRole::kOptimizerState);
  MatchedTensors matched = feed::match_tensors(moments.tensors, file.path(), wanted);
  size_t count = wanted.size();
  if (run.step.is_divided()) {
    share_names(run.step.ranks(), matched);
    count = count_of_all(run.step.ranks(), wanted);
  }
  if (matched.missing.size() == count) {
    throw_user_error(
        "init_optimizer asks for moments, but {} holds none that optimizer {} uses; choose "
        "init_optimizer fresh",
        file.path().string(), run.options.step.optimizer.name);
  }
  write_half_moments(run.step.session(), wanted, matched, run.options.step.optimizer);
  feed::copy_tensors(run.step.session(), wanted, matched, [&] { file.release_memory(); });
  run.notice(fmt::format("  {} moments of its optimiser are used", count - matched.missing.size()));
  if (!matched.missing.empty()) {
    run.notice(fmt::format("  {} moments are not in it and start at zero: {}",
                           matched.missing.size(), checkpoints::list_names(matched.missing)));
  }
  if (run.options.init_optimizer == InitOptimizer::kMomentsAndStep) take_initial_step(run, file);
}

}  // namespace

void require_finite_start(Run& run, const std::filesystem::path& source) {
  if (const auto found = find_non_finite_state(run.step)) {
    throw_data_error("{}: {} is not finite; take another checkpoint", source.string(), *found);
  }
}

void load_initial_values(Run& run) {
  const checkpoints::StoredModel file(run.options.init_checkpoint);
  checkpoints::require_variant(file, run.options.step.model.groupbert);
  const auto wanted = feed::wanted_tensors(run.step.session().graph(), VariableRole::kParameter);
  std::vector<formats::TensorView> tensors = file.tensors();
  std::erase_if(tensors, [&](const formats::TensorView& tensor) {
    return !run.options.fresh_prefix.empty() && tensor.name.starts_with(run.options.fresh_prefix);
  });
  MatchedTensors matched = feed::match_tensors(tensors, file.path(), wanted);
  size_t count = wanted.size();
  if (run.step.is_divided()) {
    share_names(run.step.ranks(), matched);
    count = count_of_all(run.step.ranks(), wanted);
  }
  if (matched.missing.size() == count) feed::require_all(matched, file.path());
  matched.unused.insert(matched.unused.end(), file.unknown().begin(), file.unknown().end());
  feed::require_whole_layers(tensors, matched, file.path());
  feed::copy_tensors(run.step.session(), wanted, matched, [&] { file.release_memory(); });
  run.notice(fmt::format("initial values from {}", file.path().string()));
  if (!matched.missing.empty()) {
    run.notice(fmt::format("  {} tensors are not in it and are initialised afresh: {}",
                           matched.missing.size(), checkpoints::list_names(matched.missing)));
  }
  load_initial_moments(run, file);
  require_finite_start(run, file.path());
  if (!matched.unused.empty()) {
    run.notice(fmt::format("  {} of its tensors are not used here: {}", matched.unused.size(),
                           checkpoints::list_names(matched.unused)));
  }
}

}  // namespace cloze::train
