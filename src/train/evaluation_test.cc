#include "train/evaluation.h"

#include <gtest/gtest.h>

#include "data/packer.h"
#include "runtime/value_slices.h"
#include "train/small_training_test.h"

namespace cloze::train {
namespace {

// Word embeddings of more numbers than are copied at a time.
constexpr int64_t kManyTokens = 40'000;
static_assert(kManyTokens * int64_t{sizeof(float)} * 4 > 2 * runtime::kSliceBytes);

TrainingOptions with_large_embeddings(const std::filesystem::path& save_path) {
  TrainingOptions options = small_training(save_path);
  options.step.model.vocab_size = kManyTokens;
  options.step.model.hidden_dropout_prob = 0.0;
  options.step.model.attention_probs_dropout_prob = 0.0;
  options.dataset = std::make_shared<data::GeneratedDataset>(data::GeneratedOptions{
      .sequence_length = 12, .max_predictions = 3, .vocabulary_size = kManyTokens, .size = 8});
  return options;
}

TEST(Evaluation, HasAllOfLargeTensors) {
  const TrainingOptions options = with_large_embeddings({});
  std::vector<data::Sample> samples;
  for (int64_t i = 0; i < options.dataset->size(); ++i) {
    samples.push_back(options.dataset->sample(i, 0));
  }
  TrainingStep step(options.step);
  step.session().initialize_parameters(5);
  Evaluation evaluation(options.step, *options.dataset);
  const double loss = evaluation.evaluate(step).front().loss;
  const double expected =
      step.accumulate(data::pack(samples, options.step.capacity), 0).losses.front().loss;
  EXPECT_NEAR(loss, expected, 1e-5 * expected);
}

TEST(Training, RestoresAllOfLargeTensors) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "cloze_evaluation_unit_test";
  std::filesystem::remove_all(folder);
  TrainingOptions options = with_large_embeddings(folder);
  const auto parameters_of_run = [&] {
    Training training(options, [](const std::string&) {});
    training.run({});
    std::vector<std::vector<float>> all;
    const graph::Graph& graph = training.session().graph();
    for (const graph::Value value : graph.variables(graph::VariableRole::kParameter)) {
      all.push_back(training.session().read<float>(graph.info(value).name));
    }
    return all;
  };
  const auto trained = parameters_of_run();
  options.restore_dir = folder;  // where nothing is left to do
  EXPECT_EQ(parameters_of_run(), trained);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace cloze::train
