// The inference graph against the graph it is made from: every head, every layout of weights.
// Weights in pairs and activations in bf16 are run by the reference kernels where the processor
// does not multiply bf16 itself.
#include "inference/inference_graph.h"

#include <gtest/gtest.h>

#include <cmath>

#include "backend/cpu/packed_linear.h"
#include "backend/cpu/packing.h"
#include "base/error.h"
#include "data/packer.h"
#include "engine/devices.h"
#include "feed/micro_batch_inputs.h"
#include "feed/parameter_loading.h"
#include "inference/small_model_test.h"

namespace cloze::inference {
namespace {

constexpr data::MicroBatchCapacity kCapacity{.tokens = 80, .sequences = 2, .predictions = 4};
constexpr models::BatchShape kShape{.tokens = kCapacity.tokens,
                                    .sequences = kCapacity.sequences,
                                    .predictions = kCapacity.predictions};

data::MicroBatch some_micro_batch() {
  std::vector<data::Sample> samples = {random_sample(47, 1), random_sample(30, 2)};
  for (data::Sample& sample : samples) {
    sample.masked_positions = {1, 20};
    sample.masked_labels = {5, 6};
  }
  return data::pack(samples, kCapacity).micro_batches.at(0);
}

class InferenceGraphTest : public testing::TestWithParam<models::HeadTraits> {
 protected:
  // Everything the graph gives.
  std::vector<float> outputs(graph::Graph graph, const std::string& device) const {
    engine::Session session(std::move(graph), {.device = device, .target = {.threads = 1}});
    feed::load_parameters(session, folder_.path());
    feed::write_micro_batch(session, some_micro_batch());
    session.run(graph::kMicroStep);
    std::vector<float> all;
    for (const graph::Value output : session.graph().outputs()) {
      const auto values = session.read<float>(session.graph().info(output).name);
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  }

  // How far the outputs are from those of the plain graph, relative to their norm.
  double distance(const std::vector<backend::GraphPass>& passes,
                  const std::string& device = "cpu") const {
    graph::Graph plain;
    models::bert_for_inference(plain, SmallModelFolder::config(), folder_.head(), kShape);
    const std::vector<float> exact = outputs(std::move(plain), "cpu");
    const std::vector<float> packed = outputs(
        inference_graph(SmallModelFolder::config(), folder_.head(), kShape, passes), device);
    CLOZE_CHECK(exact.size() == packed.size(), "{} outputs of {}", packed.size(), exact.size());
    double difference = 0.0, size = 0.0;
    for (size_t i = 0; i < exact.size(); ++i) {
      difference += std::pow(exact[i] - packed[i], 2);
      size += std::pow(exact[i], 2);
    }
    return std::sqrt(difference / size);
  }

  // What rounding to bf16 does: something, but little.
  static void expect_rounded(double rounded) {
    EXPECT_GT(rounded, unit_roundoff(DType::kF32));
    EXPECT_LT(rounded, 16 * unit_roundoff(DType::kBF16));
  }

  const SmallModelFolder folder_{GetParam().kind, "inference_graph_test"};
};

TEST_P(InferenceGraphTest, PackedWeightsChangeNothingButRoundings) {
  const auto packing = backend::cpu::weight_packing(DType::kF32);
  EXPECT_LT(distance(backend::cpu::packing_passes(packing)), 64 * unit_roundoff(DType::kF32));
}

TEST_P(InferenceGraphTest, WeightsInBfloat16GiveNearlyTheSame) {
  expect_rounded(distance(backend::cpu::packing_passes(
      {.layout = backend::cpu::panel_layout(), .dtype = DType::kBF16, .joins_products = true})));
}

TEST_P(InferenceGraphTest, ActivationsInBfloat16GiveNearlyTheSame) {
  expect_rounded(distance(backend::cpu::packing_passes(
      {.layout = backend::cpu::kPairLayout, .dtype = DType::kBF16, .is_of_activations = true})));
}

TEST_P(InferenceGraphTest, KernelsOfGpusGiveTheSame) {
  const backend::Backend& gpu = engine::device_named("emulated").backend();
  EXPECT_LT(distance(gpu.inference_passes(DType::kF32), "emulated"),
            64 * unit_roundoff(DType::kF32));
  expect_rounded(distance(gpu.inference_passes(DType::kBF16), "emulated"));
}

INSTANTIATE_TEST_SUITE_P(Heads, InferenceGraphTest, testing::ValuesIn(models::all_heads()),
                         [](const auto& info) { return std::string(info.param.architecture); });

}  // namespace
}  // namespace cloze::inference
