#include "train/tensor_norms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "data/generated_dataset.h"
#include "data/loader.h"
#include "train/training_step.h"

namespace cloze::train {
namespace {

double norm(const std::vector<float>& values) {
  double squares = 0.0;
  for (const double value : values) squares += value * value;
  return std::sqrt(squares);
}

// One of each parameter; of the weights before the update, and of the gradients that it saw.
TEST(TensorNorms, AreThoseOfEveryParameter) {
  const TrainingStepOptions options{.model = {.vocab_size = 61,
                                              .hidden_size = 16,
                                              .num_hidden_layers = 2,
                                              .num_attention_heads = 2,
                                              .intermediate_size = 24,
                                              .max_position_embeddings = 16},
                                    .capacity = {.tokens = 40, .sequences = 4, .predictions = 12}};
  TrainingStep step(options);
  engine::Session& session = step.session();
  session.initialize_parameters(1);
  const data::StepBatch batch = data::load_step(
      {.dataset = std::make_shared<data::GeneratedDataset>(data::GeneratedOptions{
           .sequence_length = 12, .max_predictions = 3, .vocabulary_size = 61, .size = 50}),
       .global_batch_size = 8,
       .capacity = options.capacity},
      0);
  step.begin({.batch = &batch, .step = 0, .learning_rate = 0.1, .loss_scale = 256.0});
  const std::vector<TensorNorm> norms = tensor_norms(session, 256.0);
  std::set<std::string> names;
  double squares = 0.0;
  for (const TensorNorm& one : norms) {
    names.insert(one.name);
    EXPECT_DOUBLE_EQ(one.weight, norm(session.read<float>(one.name))) << one.name;
    squares += one.gradient * one.gradient;
  }
  EXPECT_EQ(names.size(), session.graph().variables(graph::VariableRole::kParameter).size());
  step.finish();
  const double norm_of_all = step.take_results().back().gradient_norm;
  EXPECT_NEAR(std::sqrt(squares), norm_of_all, 1e-6 * norm_of_all);
  EXPECT_NE(norms.front().weight, norm(session.read<float>(norms.front().name)));
}

}  // namespace
}  // namespace cloze::train
