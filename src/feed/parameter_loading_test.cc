#include "feed/parameter_loading.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "base/bfloat16.h"
#include "base/error.h"
#include "checkpoints/hugging_face_config.h"
#include "models/bert_heads.h"

namespace cloze::feed {
namespace {

using formats::TensorView;

template <typename T>
TensorView view(const char* name, DType dtype, Shape shape, const std::vector<T>& values) {
  return {name, dtype, std::move(shape), std::as_bytes(std::span(values))};
}

class ParameterLoadingTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::vector<float> six(6, 1.0f);
    const std::vector<float> two = {3.0f, 4.0f}, zeros = {0.0f, 0.0f};
    formats::write_safetensors(
        path_,
        std::vector<TensorView>{view("embeddings.word_embeddings.weight", DType::kF32, {3, 2}, six),
                                view("bert.embeddings.LayerNorm.gamma", DType::kF32, {2}, two),
                                view("cls.predictions.decoder.weight", DType::kF32, {3, 2}, six),
                                view("qa_outputs.bias", DType::kF32, {2}, two),
                                view("qa_outputs.scale", DType::kF32, {2}, zeros),
                                view("bert.other.bias", DType::kF32, {2}, zeros)});
  }
  void TearDown() override { std::filesystem::remove(path_); }
  const std::string path_ = testing::TempDir() + "parameter_loading_test.safetensors";
};

TEST_F(ParameterLoadingTest, FindsTensorsUnderTheirOtherNames) {
  const formats::SafetensorsFile file{path_};
  const std::vector<WantedTensor> wanted = {{"bert.embeddings.word_embeddings.weight", {3, 2}},
                                            {"bert.encoder.extra.weight", {2}},
                                            {"bert.embeddings.LayerNorm.weight", {2}}};
  const MatchedTensors matched = match_tensors(file.tensors(), file.path(), wanted);
  EXPECT_EQ(matched.views[0]->name, "embeddings.word_embeddings.weight");
  EXPECT_EQ(matched.views[1], nullptr);
  EXPECT_EQ(matched.views[2]->name, "bert.embeddings.LayerNorm.gamma");
  EXPECT_EQ(matched.missing, std::vector<std::string>{"bert.encoder.extra.weight"});
  EXPECT_EQ(matched.unused, (std::vector<std::string>{"qa_outputs.bias", "qa_outputs.scale"}));
}

TEST_F(ParameterLoadingTest, AnotherShapeIsRefusedWithBoth) {
  const formats::SafetensorsFile file{path_};
  const std::vector<WantedTensor> wanted = {{"bert.embeddings.word_embeddings.weight", {5, 2}},
                                            {"bert.embeddings.LayerNorm.weight", {4}}};
  try {
    match_tensors(file.tensors(), file.path(), wanted);
    FAIL() << "no error";
  } catch (const DataError& error) {
    EXPECT_EQ(std::string(error.what()),
              path_ +
                  " is a checkpoint of another shape: bert.embeddings.word_embeddings.weight is "
                  "[3, 2] there and [5, 2] here and 1 more; give the options that it was trained "
                  "with, such as --hidden-size, or --config with their file");
  }
}

TEST(MatchTensors, ALayerThatLacksAWeightIsRefused) {
  const std::vector<float> two = {3.0f, 4.0f};
  const std::vector<TensorView> tensors = {
      view("encoder.layer.0.output.dense.weight", DType::kF32, {2}, two),
      view("encoder.layer.0.intermediate.special.weight", DType::kF32, {2}, two)};
  const std::string layer = "bert.encoder.layer.";
  const auto refusal = [&](const std::vector<WantedTensor>& wanted) -> std::string {
    try {
      require_whole_layers(tensors, match_tensors(tensors, "f", wanted), "f");
    } catch (const DataError& error) {
      return error.what();
    }
    return "taken";
  };
  const WantedTensor found{layer + "0.output.dense.weight", {2}};
  EXPECT_EQ(refusal({found, {layer + "0.intermediate.dense.weight", {2}}}),
            "f has bert.encoder.layer.0.*, but not bert.encoder.layer.0.intermediate.dense.weight; "
            "tensors that are not known here: encoder.layer.0.intermediate.special.weight; give a "
            "file with Hugging Face's names");
  EXPECT_EQ(refusal({found, {layer + "0.output.dense.bias", {2}}}), "taken") << "zeros at first";
  EXPECT_EQ(refusal({found, {layer + "01.output.dense.weight", {2}}}), "taken") << "a new layer";
  EXPECT_EQ(refusal({found, {"qa_outputs.weight", {2}}}), "taken") << "a new head";
}

TEST(MatchTensors, OneUnderTwoNamesIsRefusedWithBoth) {
  const std::vector<float> two = {3.0f, 4.0f};
  const std::vector<TensorView> tensors = {
      view("embeddings.LayerNorm.gamma", DType::kF32, {2}, two),
      view("bert.embeddings.LayerNorm.weight", DType::kF32, {2}, two),
      view("encoder.extra.weight", DType::kF32, {2}, two),
      view("bert.encoder.extra.weight", DType::kF32, {2}, two)};
  const std::vector<WantedTensor> wanted = {{"bert.embeddings.LayerNorm.weight", {2}}};
  try {
    match_tensors(tensors, "a.safetensors", wanted);
    FAIL() << "no error";
  } catch (const DataError& error) {
    EXPECT_EQ(std::string(error.what()),
              "a.safetensors holds bert.embeddings.LayerNorm.weight twice, as "
              "embeddings.LayerNorm.gamma and as bert.embeddings.LayerNorm.weight; leave one of "
              "them out");
  }
  // Duplicates that the model does not want do no harm.
  const MatchedTensors matched = match_tensors(std::span(tensors).subspan(1), "a", wanted);
  EXPECT_EQ(matched.unused,
            (std::vector<std::string>{"encoder.extra.weight", "bert.encoder.extra.weight"}));
}

// They share the names and shapes of some tensors.
TEST(StoredParameters, AreOfTheVariantOfTheModel) {
  const std::filesystem::path fixtures =
      std::filesystem::path(CLOZE_SOURCE_DIR) / "tests/fixtures/groupbert_pretraining";
  const auto open = [&](bool groupbert) {
    graph::Graph graph;
    models::BertConfig config = checkpoints::read_hugging_face_config(fixtures / "config.json");
    if (!groupbert) config.groupbert = config.groupbert_conv_bias = false;
    models::bert_for_inference(graph, config, {}, {.tokens = 8, .sequences = 1, .predictions = 1});
    const StoredParameters stored(graph, fixtures);
  };
  EXPECT_NO_THROW(open(true));
  try {
    open(false);
    FAIL() << "no error";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find(" describes a BERT, but "), std::string::npos)
        << error.what();
  }
}

TEST(CopyAsFloat, ConvertsEveryFloatingType) {
  std::vector<float> values(2);
  copy_as_float(view("a", DType::kF64, {2}, std::vector<double>{0.5, -3}), values);
  EXPECT_EQ(values, (std::vector<float>{0.5f, -3.0f}));
  copy_as_float(view("a", DType::kBF16, {2}, std::vector{bfloat16(1.5f), bfloat16(-2.0f)}), values);
  EXPECT_EQ(values, (std::vector<float>{1.5f, -2.0f}));
  EXPECT_THROW(copy_as_float(view("a", DType::kI32, {2}, std::vector<int32_t>{1, 2}), values),
               DataError);
}

TEST(CopyAsFloat, ConvertsHalfPrecisionExactly) {
  const std::vector<uint16_t> halves = {0x3c00, 0xc000, 0x7bff, 0x0001, 0x8000, 0x7c00, 0xfc00};
  std::vector<float> values(halves.size());
  copy_as_float(view("a", DType::kF16, {7}, halves), values);
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(values, (std::vector<float>{1, -2, 65504, 0x1p-24f, -0.0f, infinity, -infinity}));
  EXPECT_TRUE(std::signbit(values[4]));
  std::vector<float> nan(1);
  copy_as_float(view("a", DType::kF16, {1}, std::vector<uint16_t>{0x7e00}), nan);
  EXPECT_TRUE(std::isnan(nan[0]));
}

}  // namespace
}  // namespace cloze::feed
