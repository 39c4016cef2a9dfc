#include "train/evaluation.h"

#include <string>

#include "base/error.h"
#include "data/packer.h"
#include "runtime/value_slices.h"

namespace cloze::train {
namespace {

TrainingStepOptions counted_by_token(TrainingStepOptions options) {
  options.head.loss_basis = models::LossBasis::kPerToken;
  return options;
}

data::StepBatch packed(const data::Dataset& dataset, const data::MicroBatchCapacity& capacity) {
  if (dataset.size() == 0) throw_user_error("the evaluation set holds no sample; name another");
  std::vector<data::Sample> samples;
  for (int64_t i = 0; i < dataset.size(); ++i) samples.push_back(dataset.sample(i, 0));
  return data::pack(samples, capacity);
}

void copy_parameters(TrainingStep& source, engine::Session& target) {
  for (const graph::Value value : target.graph().variables(graph::VariableRole::kParameter)) {
    const std::string& name = target.graph().info(value).name;
    for (runtime::ValueSlices slices(target.executor(), value); slices.next(); slices.write()) {
      source.read_parameter(name, slices.first(), slices.as<float>());
    }
  }
  target.refresh();
}

int64_t session_bytes(const plan::Program& program) {
  return program.total_bytes() + runtime::input_image_bytes(program);
}

}  // namespace

int64_t evaluation_program_bytes(const TrainingStepOptions& training) {
  return session_bytes(
      engine::compile(evaluation_graph(counted_by_token(training)).graph, training.compile));
}

Evaluation::Evaluation(const TrainingStepOptions& training, const data::Dataset& samples)
    : samples_(packed(samples, training.capacity)),
      step_(evaluation_graph(counted_by_token(training)), training) {}

std::vector<LossValue> Evaluation::evaluate(TrainingStep& trained) {
  copy_parameters(trained, step_.session());
  return step_.accumulate(samples_, /*step=*/0).losses;
}

int64_t Evaluation::bytes() const {
  int64_t bytes = session_bytes(step_.session().program());
  for (const data::MicroBatch& batch : samples_.micro_batches) bytes += batch.capacity().bytes();
  return bytes;
}

}  // namespace cloze::train
