#include "train/saver.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/bert_heads.h"
#include "platform/phase.h"
#include "train/ranks/gathered_tensors.h"
#include "train/saving/model_folder.h"

namespace cloze::train {
namespace {

namespace fs = std::filesystem;
using graph::VariableRole;

void append_zeros(const std::vector<models::AbsentBias>& biases,
                  std::vector<formats::TensorSource>& tensors) {
  for (const models::AbsentBias& bias : biases) {
    tensors.push_back({.name = bias.name,
                       .dtype = DType::kF32,
                       .shape = Shape{bias.size},
                       .read = [](int64_t, std::span<std::byte> target) {
                         std::ranges::fill(target, std::byte{0});
                       }});
  }
}

}  // namespace

Saver::Saver(Run& run) : run_(run), store_(run.options.save_path, run.options.max_to_keep) {}

void Saver::save(bool is_last) {
  platform::enter_phase("saving");
  announce(background_.wait());
  if (run_.step.is_divided()) {
    save_together();
  } else if (!run_.is_first_rank()) {
    // This rank has the same weights as the first, which saves them.
  } else if (is_last || !saves_from_copy(run_.options.step)) {
    announce(store_.save(content_of_session()));
  } else {
    background_.start(content_of_session());
  }
  take_as_saved();
}

// While the first rank writes, the others send it what they have: they wait, but no rank needs
// memory for the states of all.
void Saver::save_together() {
  GatheredTensors gathered(run_.step.ranks(), run_.step.session());
  if (!run_.is_first_rank()) return gathered.serve();
  announce(store_.save(content(gathered.tensors(VariableRole::kParameter),
                               gathered.tensors(VariableRole::kOptimizerState))));
}

CheckpointContent Saver::content_of_session() {
  return content(tensors_of(run_.step.session(), VariableRole::kParameter),
                 tensors_of(run_.step.session(), VariableRole::kOptimizerState));
}

CheckpointContent Saver::content(std::vector<formats::TensorSource> model,
                                 std::vector<formats::TensorSource> optimizer) {
  const TrainingOptions& options = run_.options;
  append_zeros(models::absent_biases(options.step.model, options.step.head.kind), model);
  return {.model = std::move(model),
          .vector_layers = options.step.head.embedding,
          .optimizer = std::move(optimizer),
          .state = run_.state,
          .history = run_.history,
          .files = [&options, state = run_.state] {
            std::vector<TextFile> files = model_folder_files({.config = options.step.model,
                                                              .head = options.step.head,
                                                              .tokens = options.tokens,
                                                              .tokenizer = options.tokenizer,
                                                              .sentences = options.sentences},
                                                             state);
            files.insert(files.end(), options.extra_files.begin(), options.extra_files.end());
            return files;
          }};
}

void Saver::announce(const std::optional<fs::path>& saved) {
  if (saved) run_.notice(fmt::format("saved {}", saved->string()));
}

void Saver::finish() {
  try {
    announce(background_.wait());
  } catch (const std::exception& error) {
    take_as_unsaved();
    run_.notice(error.what());
  }
}

std::string Saver::newest_text() {
  finish();
  const std::vector<int64_t> steps = checkpoint_steps(store_.folder());
  if (steps.empty()) return "No checkpoint had been saved";
  return fmt::format("The newest checkpoint is {}",
                     checkpoint_path(store_.folder(), steps.front()).string());
}

FoundCheckpoint Saver::newest() {
  finish();
  std::string newest;
  if (run_.is_first_rank()) newest = find_checkpoint(store_.folder()).path.string();
  return find_checkpoint(run_.step.ranks().all_gather(newest).front());
}

}  // namespace cloze::train
