// The memory plan against the kernel's own account.
#include <gtest/gtest.h>

#include "data/generated_dataset.h"
#include "data/packer.h"
#include "platform/memory.h"
#include "train/training_step.h"

namespace cloze::tests {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kHasShadowMemory = true;
#else
constexpr bool kHasShadowMemory = false;
#endif

// BERT-tiny on 32 sequences of 128 tokens.
train::TrainingStepOptions tiny_step(DType dtype) {
  return {.model = {.hidden_size = 128,
                    .num_hidden_layers = 2,
                    .num_attention_heads = 2,
                    .intermediate_size = 512},
          .capacity = {.tokens = 4096, .sequences = 32, .predictions = 640},
          .optimizer = {.name = "lamb"},
          .compute_dtype = dtype,
          .compile = {.target = {.threads = 2}}};
}

std::vector<data::Sample> generated_samples(const train::TrainingStepOptions& options) {
  const data::GeneratedDataset dataset({.vocabulary_size = options.model.vocab_size});
  std::vector<data::Sample> samples;
  for (int64_t i = 0; i < options.capacity.sequences; ++i) samples.push_back(dataset.sample(i, 0));
  return samples;
}

class Memory : public testing::TestWithParam<DType> {};

TEST_P(Memory, AStepUsesWhatItsPlanSays) {
  if (kHasShadowMemory) GTEST_SKIP() << "a sanitizer's own memory would be counted";
  const auto options = tiny_step(GetParam());
  const auto batch = data::pack(generated_samples(options), options.capacity);
  const auto before = static_cast<double>(platform::private_bytes());
  train::TrainingStep step(options);
  step.session().initialize_parameters(1);
  step.run(batch, 0, 1e-3);
  const double used = static_cast<double>(platform::private_bytes()) - before;
  const auto planned = static_cast<double>(step.session().program().total_bytes());
  EXPECT_GT(planned, 100e6);
  EXPECT_NEAR(used / planned, 1.0, 0.05);
}

// BERT-large on 32 sequences of 128 tokens; planned, not run.
train::TrainingStepOptions large_step(DType dtype) {
  return {.model = {.hidden_size = 1024,
                    .num_hidden_layers = 24,
                    .num_attention_heads = 16,
                    .intermediate_size = 4096},
          .capacity = {.tokens = 4096, .sequences = 32, .predictions = 640},
          .optimizer = {.name = "lamb"},
          .compute_dtype = dtype,
          .compile = {.target = {.threads = 2}}};
}

int64_t planned_activation_bytes(const train::TrainingStepOptions& options) {
  const plan::Program program =
      engine::compile(train::training_graph(options).graph, options.compile);
  return program.bytes_of(plan::Arena::kActivations);
}

// What is kept for the backward pass is in the compute dtype. Always in f32, for each token: two
// numbers for each of a layer's two LayerNorms and one for each attention head; less for the
// embedding and the model's head.
TEST(PlannedMemory, ActivationsTakeHalfInBfloat16) {
  const auto options = large_step(DType::kF32);
  const models::BertConfig& model = options.model;
  const int64_t always_f32 = options.capacity.tokens * (model.num_hidden_layers + 1) *
                             (4 + model.num_attention_heads) * int64_t{sizeof(float)};
  EXPECT_LE(2 * planned_activation_bytes(large_step(DType::kBF16)),
            planned_activation_bytes(options) + always_f32);
}

// Recomputation keeps two tensors of each of the 24 layers, hidden_size numbers per token: the sum
// before the last LayerNorm, and its output. Besides these, memory holds at most one layer with its
// gradients.
TEST(PlannedMemory, RecomputationKeepsTwoTensorsOfALayer) {
  train::TrainingStepOptions options = large_step(DType::kF32);
  const int64_t kept = planned_activation_bytes(options);
  options.recompute = true;
  const int64_t recomputed = planned_activation_bytes(options);
  const int64_t tensor = options.capacity.tokens * options.model.hidden_size * 4;
  const int64_t a_layer = 20 * tensor;  // four of four times the size, five of one, with slack
  EXPECT_GE(recomputed, 24 * 2 * tensor);
  EXPECT_LE(recomputed, 24 * 2 * tensor + 2 * a_layer);
  EXPECT_GE(kept, 24 * 14 * tensor);
}

INSTANTIATE_TEST_SUITE_P(Dtypes, Memory, testing::Values(DType::kF32, DType::kBF16),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace cloze::tests
