#include "tasks/text_embedder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/philox.h"
#include "inference/small_model_test.h"
#include "platform/files/atomic_file.h"

namespace cloze::tasks {
namespace {

using inference::PackedModel;

std::string words(int count, int first = 0) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("word{} ", 5 + (first + i) % 90);
  return text;
}

// The model has 64 positions and vectors of 24 numbers.
class TextEmbedderTest : public testing::Test {
 protected:
  std::shared_ptr<const PackedModel> packed(
      std::optional<ops::PoolingMode> pooling = std::nullopt) const {
    return std::make_shared<const PackedModel>(PackedModel::pack(
        inference::as_encoder(inference::open_pretrained_model(folder_.path()), pooling), {}));
  }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder_.path() / name).parent_path());
    platform::write_file_atomically(folder_.path() / name, text);
  }
  void write_modules(const std::string& last) const {
    write("modules.json", R"([{"path": "", "type": "a.Transformer"},
                              {"path": "1_Pooling", "type": "a.Pooling"})" +
                              last + "]");
    write("1_Pooling/config.json", R"({"pooling_mode": "mean"})");
  }

  const inference::SmallModelFolder folder_{models::HeadKind::kEmbedding, "text_embedder_test"};
};

double length_of(std::span<const float> vector) {
  return std::sqrt(std::transform_reduce(vector.begin(), vector.end(), 0.0, std::plus(),
                                         [](double x) { return x * x; }));
}

TEST_F(TextEmbedderTest, AVectorIsTheMeanOfItsTokensVectors) {
  TextEmbedder embedder(packed(), 1);
  const std::vector<std::string> texts{words(9), "", words(3)};
  const auto vectors = embedder.embed(texts);
  const auto tokens = embedder.embed_tokens(texts);
  ASSERT_EQ(embedder.dimensions(), 24);
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto rows = static_cast<size_t>(tokens[i].tokens);
    ASSERT_EQ(tokens[i].values.size(), rows * 24);
    EXPECT_EQ(vectors[i].tokens, tokens[i].tokens);
    for (size_t j = 0; j < 24; ++j) {
      double sum = 0.0;
      for (size_t t = 0; t < rows; ++t) sum += tokens[i].values[t * 24 + j];
      EXPECT_NEAR(vectors[i].values[j], sum / static_cast<double>(rows), 1e-6);
    }
  }
  EXPECT_EQ(vectors[1].tokens, 2);  // [CLS] [SEP]
}

TEST_F(TextEmbedderTest, AModeTakesThePlaceOfTheFoldersOwn) {
  const std::vector<std::string> texts{words(5)};
  const std::vector<float> tokens = TextEmbedder(packed(), 1).embed_tokens(texts)[0].values;
  const auto first = TextEmbedder(packed(ops::PoolingMode::kFirst), 1).embed(texts)[0].values;
  const auto last = TextEmbedder(packed(ops::PoolingMode::kLast), 1).embed(texts)[0].values;
  EXPECT_TRUE(std::equal(first.begin(), first.end(), tokens.begin()));
  EXPECT_TRUE(std::equal(last.begin(), last.end(), tokens.end() - 24));
}

// Alone, and in batches drawn at random, in any order, on one thread and on two.
TEST_F(TextEmbedderTest, AVectorHasTheSameBitsInAnyBatch) {
  const auto model = packed();
  TextEmbedder one(model, 1), two(model, 2);
  std::vector<std::string> texts;
  PhiloxStream random(11, 1);
  for (int i = 0; i < 200; ++i) {
    texts.push_back(words(static_cast<int>(random.below(62)), static_cast<int>(random.below(90))));
  }
  std::vector<std::vector<float>> alone;
  for (const std::string& text : texts) {
    alone.push_back(one.embed(std::vector{text})[0].values);
  }
  for (int batch = 0; batch < 60; ++batch) {
    std::vector<size_t> chosen;
    std::vector<std::string> together;
    for (uint64_t n = 1 + random.below(40); n > 0; --n) {
      chosen.push_back(random.below(texts.size()));
      together.push_back(texts[chosen.back()]);
    }
    const auto vectors = (batch % 2 == 0 ? one : two).embed(together);
    for (size_t i = 0; i < chosen.size(); ++i) ASSERT_EQ(vectors[i].values, alone[chosen[i]]);
  }
}

TEST_F(TextEmbedderTest, VectorsAreCutAndThenNormalized) {
  TextEmbedder embedder(packed(), 1);
  const std::vector<std::string> texts{words(7)};
  const std::vector<float> whole = embedder.embed(texts)[0].values;
  const std::vector<float> cut = embedder.embed(texts, {.dimensions = 5})[0].values;
  EXPECT_TRUE(std::ranges::equal(cut, std::span(whole).first(5)));
  const std::vector<float> normalized =
      embedder.embed(texts, {.dimensions = 5, .is_normalized = true})[0].values;
  EXPECT_NEAR(length_of(normalized), 1.0, 1e-6);
  EXPECT_NEAR(normalized[2], cut[2] / length_of(cut), 1e-6);
  for (const int64_t wrong : {0, 25}) {
    EXPECT_THROW(embedder.embed(texts, {.dimensions = wrong}), UserError);
  }
}

TEST_F(TextEmbedderTest, AFolderSaysLengthPromptAndNormalization) {
  write_modules(R"(, {"path": "2_Normalize", "type": "a.Normalize"})");
  write("sentence_bert_config.json", R"({"max_seq_length": 10})");
  write("config_sentence_transformers.json",
        R"({"prompts": {"query": "word50 "}, "default_prompt_name": "query"})");
  const auto model = packed();
  EXPECT_TRUE(model->notes().empty()) << model->notes().front();
  TextEmbedder embedder(model, 1);
  EXPECT_EQ(embedder.max_length(), 10);
  const auto made = embedder.embed(std::vector{words(30), words(3)});
  EXPECT_EQ(made[0].tokens, 10);
  EXPECT_EQ(made[0].text.tokens, 31);
  EXPECT_EQ(made[0].text.kept, 8);
  EXPECT_NEAR(length_of(made[1].values), 1.0, 1e-6);
  const auto ends = embedder.embed(std::vector{words(30)}, {.cut_side = CutSide::kStart});
  EXPECT_EQ(ends[0].values, embedder.embed(std::vector{words(8, 22)}, {.prompt = ""})[0].values);
  EXPECT_EQ(ends[0].text.kept, 8);
  const auto with = embedder.embed(std::vector{"word50 " + words(3)}, {.prompt = ""});
  EXPECT_EQ(with[0].values, made[1].values);
  const auto raw = embedder.embed(std::vector{words(3)}, {.is_normalized = false});
  EXPECT_GT(std::abs(length_of(raw[0].values) - 1.0), 0.01);
}

TEST_F(TextEmbedderTest, DenseLayersComeAfterPooling) {
  write_modules(R"(, {"path": "2_Dense", "type": "a.Dense"})");
  write("2_Dense/config.json", R"({"in_features": 24, "out_features": 3})");
  std::vector<float> weight(3 * 24), bias{0.1f, -0.2f, 0.3f};
  PhiloxStream random(5, 1);
  for (float& value : weight) value = static_cast<float>(random.uniform() - 0.5);
  const std::vector<formats::TensorView> tensors{
      {"linear.weight", DType::kF32, {3, 24}, std::as_bytes(std::span(weight))},
      {"linear.bias", DType::kF32, {3}, std::as_bytes(std::span(bias))}};
  formats::write_safetensors(folder_.path() / "2_Dense/model.safetensors", tensors);
  const auto model = packed();
  TextEmbedder embedder(model, 1);
  EXPECT_EQ(embedder.dimensions(), 3);
  const auto made = embedder.embed(std::vector{words(6)})[0].values;
  const std::filesystem::path file = folder_.path() / "model.cloze";
  model->write(file);
  TextEmbedder reopened(std::make_shared<const PackedModel>(PackedModel::open(file)), 1);
  EXPECT_EQ(reopened.embed(std::vector{words(6)})[0].values, made);
  const auto tokens = embedder.embed_tokens(std::vector{words(6)})[0];
  for (size_t i = 0; i < 3; ++i) {
    double sum = bias[i];
    for (size_t j = 0; j < tokens.values.size(); ++j) {
      sum += tokens.values[j] / static_cast<double>(tokens.tokens) * weight[i * 24 + j % 24];
    }
    EXPECT_NEAR(made[i], std::tanh(sum), 1e-5);
  }
}

TEST_F(TextEmbedderTest, AnyBertIsAnEncoder) {
  const inference::SmallModelFolder other(models::HeadKind::kQuestionAnswering,
                                          "text_embedder_other_test");
  try {
    TextEmbedder(std::make_shared<const PackedModel>(
                     PackedModel::pack(inference::open_pretrained_model(other.path()), {})),
                 1);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.what(), other.path().string() +
                                " is a BertForQuestionAnswering, where a BertModel is needed; give "
                                "a model of that kind");
  }
  auto model = inference::as_encoder(inference::open_pretrained_model(other.path()));
  EXPECT_EQ(model.notes.back(),
            other.path().string() +
                " is a BertForQuestionAnswering: its encoder is used, and the vector of a text is "
                "the mean over its tokens");
  const auto packed = std::make_shared<const PackedModel>(PackedModel::pack(std::move(model), {}));
  EXPECT_EQ(TextEmbedder(packed, 1).embed(std::vector{words(4)})[0].values.size(), 24u);
}

TEST(Similarity, HasSentenceTransformersFunctions) {
  const std::vector<float> a{3.0f, 4.0f}, b{4.0f, 3.0f};
  EXPECT_DOUBLE_EQ(similarity_named("cosine")(a, b), 24.0 / 25.0);
  EXPECT_DOUBLE_EQ(similarity_named("dot")(a, b), 24.0);
  EXPECT_DOUBLE_EQ(similarity_named("euclidean")(a, b), -std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(similarity_named("manhattan")(a, b), -2.0);
  EXPECT_DOUBLE_EQ(similarity_named("cosine")(a, std::vector<float>{0.0f, 0.0f}), 0.0);
  EXPECT_THROW(similarity_named("jaccard"), UserError);
}

}  // namespace
}  // namespace cloze::tasks
