#include "inference/inference_memory.h"

#include <gtest/gtest.h>

#include "inference/inference_client.h"
#include "inference/packed_model.h"
#include "inference/small_model_test.h"
#include "platform/memory.h"

namespace cloze::inference {
namespace {

using models::HeadKind;

class InferenceMemoryTest : public testing::TestWithParam<DType> {
 protected:
  const SmallModelFolder folder_{HeadKind::kQuestionAnswering, "inference_memory_test"};
};

TEST_P(InferenceMemoryTest, CountsTheWeightsAsTheyAre) {
  const PackOptions options{.precision = GetParam()};
  const PretrainedModel model = open_pretrained_model(folder_.path());
  const InferenceMemory memory = inference_memory(model.config, model.head, options, 2);
  const PackedModel packed = PackedModel::pack(open_pretrained_model(folder_.path()), options);
  EXPECT_EQ(memory.weights_bytes, static_cast<int64_t>(packed.weights()->bytes()));
  EXPECT_EQ(memory.loading_bytes, 2 * 97 * 24 * 4) << "read, and copied to be packed";
}

// All shapes of batches run in the memory of the largest.
TEST_P(InferenceMemoryTest, HoldsBatchesOfAllShapes) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer takes memory of its own";
#endif
  const auto model = std::make_shared<const PackedModel>(
      PackedModel::pack(open_pretrained_model(folder_.path()), {.precision = GetParam()}));
  const InferenceMemory memory =
      inference_memory(model->config(), model->head(), model->options(), 1);
  const int64_t before = platform::private_bytes();
  InferenceClient client(model, 1);
  for (const size_t count : {200, 1, 64, 3, 17, 128, 33, 9, 100}) {
    client.run(std::vector<data::Sample>(count, random_sample(64, count)), [](const auto&) {});
  }
  constexpr int64_t kPrograms = 4 << 20;  // nine of them
  EXPECT_LT(platform::private_bytes() - before, memory.batch_bytes + kPrograms);
}

INSTANTIATE_TEST_SUITE_P(Precisions, InferenceMemoryTest,
                         testing::Values(DType::kF32, DType::kBF16),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace cloze::inference
