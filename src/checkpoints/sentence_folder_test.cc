#include "checkpoints/sentence_folder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "checkpoints/sentence_files.h"
#include "checkpoints/stored_head.h"
#include "formats/json.h"
#include "platform/files/atomic_file.h"
#include "platform/files/own_folder_test.h"

namespace cloze::checkpoints {
namespace {

using models::BertConfig;
using ops::PoolingMode;

const BertConfig kConfig{.hidden_size = 8, .num_attention_heads = 2, .max_position_embeddings = 64};

constexpr const char* kOldModules = R"([
  {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
  {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
  {"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"},
  {"idx": 3, "name": "3", "path": "3_Normalize", "type": "sentence_transformers.models.Normalize"}])";
constexpr const char* kNewModules = R"([
  {"idx": 0, "name": "0", "path": "",
   "type": "sentence_transformers.base.modules.transformer.Transformer"},
  {"idx": 1, "name": "1", "path": "1_Pooling",
   "type": "sentence_transformers.sentence_transformer.modules.pooling.Pooling", "kwargs": []}])";
constexpr const char* kOldPooling = R"({"word_embedding_dimension": 8,
  "pooling_mode_cls_token": true, "pooling_mode_mean_tokens": true,
  "pooling_mode_max_tokens": true, "pooling_mode_mean_sqrt_len_tokens": false})";
constexpr const char* kDense = R"({"in_features": 24, "out_features": 5, "bias": false,
  "activation_function": "torch.nn.modules.linear.Identity"})";

class SentenceFolderTest : public platform::OwnFolderTest {
 protected:
  void write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((folder_ / name).parent_path());
    platform::write_file_atomically(folder_ / name, text);
  }
  models::EmbeddingLayers layers() { return read_embedding_layers(folder_, kConfig); }
  SentenceSettings settings() { return read_sentence_settings(folder_, kConfig); }
  template <class Body>
  std::string error_of(const Body& body) {
    try {
      body();
    } catch (const UserError& error) {
      std::string text = error.what();
      const std::string own = folder_.string() + "/";
      for (size_t at; (at = text.find(own)) != std::string::npos;) text.erase(at, own.size());
      return text;
    }
    return "no error";
  }
  // The error of a pooling configuration under the newer modules.
  std::string pooling_error(const std::string& pooling) {
    write("modules.json", kNewModules);
    write("1_Pooling/config.json", pooling);
    return error_of([&] { layers(); });
  }
};

TEST_F(SentenceFolderTest, ReadsTheOlderForm) {
  write("modules.json", kOldModules);
  write("1_Pooling/config.json", kOldPooling);
  write("2_Dense/config.json", kDense);
  const models::EmbeddingLayers read = layers();
  EXPECT_EQ(read.pooling,
            (std::vector<PoolingMode>{PoolingMode::kFirst, PoolingMode::kMax, PoolingMode::kMean}));
  ASSERT_EQ(read.dense.size(), 1u);
  EXPECT_EQ(read.dense[0], (models::DenseLayer{.name = "2_Dense",
                                               .in_features = 24,
                                               .out_features = 5,
                                               .has_bias = false,
                                               .has_tanh = false}));
  EXPECT_TRUE(read.is_normalized);
  EXPECT_EQ(read.dimensions(8), 5);
}

TEST_F(SentenceFolderTest, ReadsTheNewerForm) {
  write("modules.json", kNewModules);
  write("1_Pooling/config.json",
        R"({"embedding_dimension": 8, "pooling_mode": ["lasttoken", "weightedmean"]})");
  EXPECT_EQ(layers().pooling,
            (std::vector<PoolingMode>{PoolingMode::kLast, PoolingMode::kWeightedMean}));
  EXPECT_FALSE(layers().is_normalized);
  write("1_Pooling/config.json", R"({"pooling_mode": "mean_sqrt_len_tokens"})");
  EXPECT_EQ(layers().pooling, (std::vector<PoolingMode>{PoolingMode::kMeanSqrtLength}));
}

TEST_F(SentenceFolderTest, RefusesWhatIsNotHere) {
  EXPECT_EQ(pooling_error("{}"), "1_Pooling/config.json sets no mode of pooling");
  EXPECT_EQ(pooling_error(R"({"pooling_mode": "best"})"),
            "1_Pooling/config.json: pooling_mode is \"best\"; known are cls, max, mean, "
            "mean_sqrt_len_tokens, weightedmean, lasttoken");
  EXPECT_EQ(pooling_error(R"({"pooling_mode": ["cls", "mean", "cls"]})"),
            "1_Pooling/config.json: pooling_mode has cls twice; name each mode once");
  EXPECT_EQ(pooling_error(R"({"pooling_mode": 3})"),
            "1_Pooling/config.json: pooling_mode is 3; it must be the name of a mode, or a list of "
            "names");
  EXPECT_EQ(pooling_error(R"({"pooling_mode": "mean", "include_prompt": false})"),
            "1_Pooling/config.json: include_prompt is false; only true is supported");
  EXPECT_EQ(pooling_error(R"({"pooling_mode": "mean", "embedding_dimension": 9})"),
            "1_Pooling/config.json: embedding_dimension is 9; only 8 is supported");
}

TEST_F(SentenceFolderTest, RefusesOtherModulesAndOrders) {
  const auto with = [&](const std::string& kinds) {
    std::string list;
    for (size_t at = 0; at < kinds.size();) {
      const size_t end = std::min(kinds.find(' ', at), kinds.size());
      list += (list.empty() ? "" : ", ") + std::string(R"({"path": "", "type": "a.)") +
              kinds.substr(at, end - at) + R"("})";
      at = end + 1;
    }
    write("modules.json", "[" + list + "]");
    return error_of([&] { layers(); });
  };
  EXPECT_EQ(with("Transformer LSTM"),
            "modules.json: a module is a LSTM; known are Transformer, Pooling, Dense, Normalize");
  EXPECT_EQ(
      with("Pooling"),
      "modules.json: Pooling comes first; supported is the order Transformer, Pooling, Dense, "
      "Normalize");
  EXPECT_EQ(with("Transformer Normalize Pooling"),
            "modules.json: Pooling comes after Normalize; supported is the order Transformer, "
            "Pooling, Dense, Normalize");
  EXPECT_EQ(with("Transformer"), "modules.json lists no Pooling");
  for (const char* path : {"", "1_A"}) {
    write("modules.json", fmt::format(R"([{{"path": "1_A", "type": "Dense"}},
                                         {{"path": "{}", "type": "Dense"}}])",
                                      path));
    EXPECT_EQ(error_of([&] { layers(); }),
              fmt::format("modules.json: a Dense has the path \"{}\"; it "
                          "must be a folder of its own",
                          path));
  }
  write("modules.json", R"([{"path": "../other", "type": "Pooling"}])");
  EXPECT_NE(error_of([&] { layers(); }).find("path is \"../other\"; it must be a folder in"),
            std::string::npos);
  write("modules.json", "{}");
  EXPECT_EQ(error_of([&] { layers(); }), "modules.json: not a list of modules");
}

TEST_F(SentenceFolderTest, RefusesDenseLayersThatDoNotFit) {
  write("modules.json", kOldModules);
  write("1_Pooling/config.json", kOldPooling);
  write("2_Dense/config.json", R"({"in_features": 8, "out_features": 5})");
  EXPECT_EQ(error_of([&] { layers(); }),
            "2_Dense/config.json: in_features is 8; only 24 is supported");
  write("2_Dense/config.json", R"({"in_features": 24, "out_features": 0})");
  EXPECT_EQ(error_of([&] { layers(); }),
            "2_Dense/config.json: out_features is 0; it must be 1 to 1048576");
  write("2_Dense/config.json", R"({"in_features": 24, "out_features": 1000000000000})");
  EXPECT_EQ(error_of([&] { layers(); }),
            "2_Dense/config.json: out_features is 1000000000000; it must be 1 to 1048576");
  write("2_Dense/config.json", R"({"in_features": 24, "out_features": 2,
    "activation_function": "torch.nn.modules.activation.ReLU"})");
  EXPECT_EQ(error_of([&] { layers(); }),
            "2_Dense/config.json: activation_function is torch.nn.modules.activation.ReLU; "
            "supported are Tanh and Identity");
}

TEST_F(SentenceFolderTest, ReadsWhatIsSaidOfTexts) {
  EXPECT_EQ(settings().max_length, 64);
  write("tokenizer_config.json", R"({"model_max_length": 1000000000000000019884624838656})");
  EXPECT_EQ(settings().max_length, 64);
  write("tokenizer_config.json", R"({"model_max_length": 32})");
  EXPECT_EQ(settings().max_length, 32);
  write("sentence_bert_config.json", R"({"max_seq_length": 16, "do_lower_case": true})");
  write("config_sentence_transformers.json",
        R"({"prompts": {"query": "query: ", "document": ""}, "default_prompt_name": "query",
            "similarity_fn_name": "dot"})");
  const SentenceSettings read = settings();
  EXPECT_EQ(read.max_length, 16);
  EXPECT_TRUE(read.lower_case);
  EXPECT_EQ(read.similarity, "dot");
  EXPECT_EQ(read.default_text(), "query: ");
  EXPECT_EQ(read.prompt_named("document"), "");
  EXPECT_EQ(error_of([&] { read.prompt_named("passage"); }),
            "the model has no prompt passage; it has query, document");
  EXPECT_EQ(SentenceSettings().default_text(), "");
  EXPECT_EQ(error_of([&] { SentenceSettings().prompt_named("query"); }),
            "the model has no prompt query; it has none");
}

TEST_F(SentenceFolderTest, RefusesSettingsThatMakeNoSense) {
  write("sentence_bert_config.json", R"({"max_seq_length": 2})");
  EXPECT_EQ(error_of([&] { settings(); }),
            "sentence_bert_config.json: max_seq_length is 2; it must be 3 or more");
  write("sentence_bert_config.json", "{}");
  write("config_sentence_transformers.json", R"({"default_prompt_name": "query"})");
  EXPECT_EQ(error_of([&] { settings(); }),
            "config_sentence_transformers.json: default_prompt_name is query, which is none of its "
            "prompts");
  write("config_sentence_transformers.json", R"({"prompts": ["query: "]})");
  EXPECT_EQ(error_of([&] { settings(); }),
            "config_sentence_transformers.json: prompts is [\"query: \"]; it must be an object of "
            "texts by name");
  write("config_sentence_transformers.json", R"({"similarity_fn_name": "jaccard"})");
  EXPECT_EQ(error_of([&] { settings(); }),
            "config_sentence_transformers.json: similarity_fn_name is jaccard; known are cosine, "
            "dot, euclidean, manhattan");
}

TEST_F(SentenceFolderTest, GoesThroughThePackedFormUnchanged) {
  const models::EmbeddingLayers layers{
      .pooling = {PoolingMode::kMean, PoolingMode::kLast},
      .dense = {{.name = "2_Dense", .in_features = 16, .out_features = 4, .has_bias = false}},
      .is_normalized = true};
  const SentenceSettings settings{.max_length = 40,
                                  .prompts = {{"query", "q: "}, {"document", "d: "}},
                                  .default_prompt = "query",
                                  .similarity = "euclidean"};
  const auto [read_layers, read_settings] = sentence_from_json(sentence_json(layers, settings));
  EXPECT_EQ(read_layers, layers);
  EXPECT_EQ(read_settings, settings);
}

TEST_F(SentenceFolderTest, WhatIsWrittenIsReadAgain) {
  const models::EmbeddingLayers wanted{
      .pooling = {PoolingMode::kFirst, PoolingMode::kMean, PoolingMode::kLast},
      .dense = {{.name = "2_Dense", .in_features = 24, .out_features = 4, .has_bias = false},
                {.name = "3_Dense", .in_features = 4, .out_features = 2, .has_tanh = false}},
      .is_normalized = true};
  const SentenceSettings said{.max_length = 40,
                              .lower_case = true,
                              .prompts = {{"query", "q: "}, {"document", ""}},
                              .default_prompt = "query",
                              .similarity = "dot"};
  for (const TextFile& file : sentence_files(wanted, said, kConfig)) write(file.name, file.text);
  EXPECT_EQ(layers(), wanted);
  EXPECT_EQ(settings(), said);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "4_Normalize/config.json"));
  // text-embeddings-inference asks for these two.
  const formats::Json pooling = formats::read_json_file(folder_ / "1_Pooling/config.json");
  EXPECT_EQ(pooling["pooling_mode_cls_token"], true);
  EXPECT_EQ(pooling["pooling_mode_mean_tokens"], true);
  for (const TextFile& file : sentence_files({}, {}, kConfig)) write(file.name, file.text);
  EXPECT_EQ(layers(), models::EmbeddingLayers());
  EXPECT_EQ(settings(), SentenceSettings{.max_length = 64});
  EXPECT_EQ(error_of([] {
              sentence_files({.pooling = {PoolingMode::kLast, PoolingMode::kMean}}, {}, kConfig);
            }),
            "the model's modes of pooling are lasttoken, mean; the older form of "
            "sentence-transformers' folders has them only in the order mean, lasttoken");
}

TEST_F(SentenceFolderTest, DenseLayersHaveFilesOfTheirOwn) {
  const models::EmbeddingLayers layers{.dense = {{.name = "2_Dense"}, {.name = "22_Dense"}}};
  const std::vector<float> values{1.0F, 2.0F, 3.0F};
  const auto bytes = std::as_bytes(std::span(values));
  std::vector<formats::TensorSource> tensors;
  for (const char* name :
       {"bert.pooler.dense.bias", "2_Dense.linear.bias", "22_Dense.linear.bias"}) {
    tensors.push_back(formats::source_of(
        {.name = name, .dtype = DType::kF32, .shape = Shape{3}, .bytes = bytes}));
  }
  EXPECT_FALSE(is_of_dense_layer(layers, "bert.pooler.dense.bias"));
  EXPECT_TRUE(is_of_dense_layer(layers, "22_Dense.linear.bias"));
  const std::vector<std::string> files = write_dense_layers(folder_, layers, tensors);
  EXPECT_EQ(files,
            (std::vector<std::string>{"2_Dense/model.safetensors", "22_Dense/model.safetensors"}));
  for (const std::string& file : files) {
    const formats::SafetensorsFile read(folder_ / file);
    ASSERT_EQ(read.tensors().size(), 1u);
    EXPECT_EQ(read.tensors()[0].name, "linear.bias");
  }
}

TEST_F(SentenceFolderTest, ABareEncoderHasItsModules) {
  write("config.json", R"({"architectures": ["BertModel"], "hidden_size": 8,
                           "num_attention_heads": 2})");
  models::BertHead head = read_stored_head(folder_);
  EXPECT_EQ(head.kind, models::HeadKind::kEmbedding);
  EXPECT_EQ(head.embedding, models::EmbeddingLayers());
  write("modules.json", kNewModules);
  write("1_Pooling/config.json", R"({"pooling_mode": "cls"})");
  head = read_stored_head(folder_);
  EXPECT_EQ(head.embedding.pooling, (std::vector<PoolingMode>{PoolingMode::kFirst}));
}

}  // namespace
}  // namespace cloze::checkpoints
