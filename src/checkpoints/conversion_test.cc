#include "checkpoints/conversion.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/data_folder_test.h"
#include "base/error.h"
#include "checkpoints/hugging_face_config.h"
#include "checkpoints/sentence_files.h"
#include "checkpoints/stored_model.h"
#include "formats/json.h"
#include "platform/files/atomic_file.h"
#include "platform/files/file.h"
#include "text/vocabulary.h"

namespace cloze::checkpoints {
namespace {

namespace fs = std::filesystem;
using formats::TensorView;

const fs::path kFixtures = fs::path(CLOZE_SOURCE_DIR) / "tests/fixtures/tf_checkpoint";

class CheckpointConversionTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / "cloze_checkpoint_conversion_test";
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  ConversionOptions options(const char* action, const fs::path& checkpoint,
                            const char* output) const {
    const ConversionAction ends = conversion_action(action);
    return {
        .from = ends.from, .to = ends.to, .checkpoint = checkpoint, .output_dir = folder_ / output};
  }
  std::string refusal(const ConversionOptions& options) const {
    try {
      convert_checkpoint(options);
    } catch (const UserError& error) {
      return error.what();
    }
    return "taken";
  }

  fs::path folder_;
};

bool has_note(const ConversionReport& report, std::string_view part) {
  return std::ranges::any_of(
      report.notes, [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

void expect_same_tensors(const fs::path& actual, const fs::path& expected) {
  const formats::ModelTensors tensors(actual);
  const formats::ModelTensors wanted(expected);
  EXPECT_EQ(tensors.tensors().size(), wanted.tensors().size());
  for (const TensorView& tensor : wanted.tensors()) {
    const TensorView* found = formats::find_tensor(tensors.tensors(), tensor.name);
    ASSERT_NE(found, nullptr) << tensor.name;
    EXPECT_EQ(found->dtype, tensor.dtype) << tensor.name;
    EXPECT_EQ(found->shape, tensor.shape) << tensor.name;
    EXPECT_TRUE(std::ranges::equal(found->bytes, tensor.bytes)) << tensor.name;
  }
}

TEST_F(CheckpointConversionTest, ThereAndBackGivesTheSameBytes) {
  convert_checkpoint(options("google2hf", kFixtures / "google", "hf"));
  expect_same_tensors(folder_ / "hf", kFixtures / "model.safetensors");
  convert_checkpoint(options("hf2google", folder_ / "hf", "google"));
  convert_checkpoint(options("google2hf", folder_ / "google", "again"));
  expect_same_tensors(folder_ / "again", kFixtures / "model.safetensors");
  for (const char* name : {"config.json", "vocab.txt", "tokenizer.json", "tokenizer_config.json"}) {
    EXPECT_EQ(platform::read_file(folder_ / "again" / name),
              platform::read_file(folder_ / "hf" / name));
  }
  ConversionOptions graphcore = options("hf2graphcore", folder_ / "hf", "graphcore");
  graphcore.precision = 32;
  graphcore.num_embeddings_splits = 11;
  graphcore.use_qkv_split = false;
  convert_checkpoint(graphcore);
  expect_same_tensors(folder_ / "graphcore", kFixtures / "graphcore");
}

// Any model's encoder becomes one that makes vectors of texts, and stays it when it is converted
// again, with what its folder says of texts.
TEST_F(CheckpointConversionTest, AnEncoderBecomesAFolderOfSentenceTransformers) {
  ConversionOptions pooled =
      options("hf2hf", kFixtures.parent_path() / "bert_classification", "first");
  pooled.pooling = ops::PoolingMode::kFirst;
  const ConversionReport report = convert_checkpoint(pooled);
  EXPECT_TRUE(has_note(report, "left out, of another head: classifier.bias, classifier.weight"));
  EXPECT_FALSE(has_note(report, "pre-training"));
  const formats::Json config = formats::read_json_file(folder_ / "first/config.json");
  EXPECT_EQ(config["architectures"], formats::Json::array({"BertModel"}));
  EXPECT_FALSE(config.contains("id2label"));
  const StoredModel first(folder_ / "first");
  EXPECT_NE(first.find("encoder.layer.0.output.dense.weight"), nullptr);
  EXPECT_NE(first.find("pooler.dense.weight"), nullptr);
  EXPECT_NE(platform::read_file(folder_ / "first/README.md").find("library_name: sentence-trans"),
            std::string::npos);

  const auto layers = read_embedding_layers(folder_ / "first", bert_config_from_json(config, ""));
  EXPECT_EQ(layers.pooling, std::vector{ops::PoolingMode::kFirst});
  convert_checkpoint(options("hf2hf", folder_ / "first", "second"));
  expect_same_tensors(folder_ / "second", folder_ / "first");
  for (const char* name : {"config.json", "modules.json", "1_Pooling/config.json",
                           "sentence_bert_config.json", "config_sentence_transformers.json"}) {
    EXPECT_EQ(platform::read_file(folder_ / "second" / name),
              platform::read_file(folder_ / "first" / name));
  }
}

TEST_F(CheckpointConversionTest, DenseLayersComeAlong) {
  const fs::path source = folder_ / "source";
  fs::copy(kFixtures.parent_path() / "bert_classification", source, fs::copy_options::recursive);
  const models::BertConfig config = read_hugging_face_config(source / "config.json");
  const models::EmbeddingLayers layers{
      .dense = {{.name = "2_Dense", .in_features = config.hidden_size, .out_features = 2}}};
  const SentenceSettings settings{.max_length = 9, .prompts = {{"query", "ask: "}}};
  const std::vector<float> values(static_cast<size_t>(2 * config.hidden_size), 0.5F);
  const auto bytes = std::as_bytes(std::span(values));
  write_dense_layers(source, layers,
                     std::vector{formats::source_of({.name = "2_Dense.linear.weight",
                                                     .shape = Shape{2, config.hidden_size},
                                                     .bytes = bytes}),
                                 formats::source_of({.name = "2_Dense.linear.bias",
                                                     .shape = Shape{2},
                                                     .bytes = bytes.first(2 * sizeof(float))})});
  for (const TextFile& file : sentence_files(layers, settings, config)) {
    fs::create_directories((source / file.name).parent_path());
    platform::write_file_atomically(source / file.name, file.text);
  }
  const ConversionReport report = convert_checkpoint(options("hf2hf", source, "out"));
  EXPECT_FALSE(has_note(report, "not in the checkpoint"));
  EXPECT_TRUE(has_note(report, "files of the folder that are not carried over"));
  EXPECT_FALSE(has_note(report, "2_Dense"));
  expect_same_tensors(folder_ / "out/2_Dense", source / "2_Dense");
  EXPECT_EQ(read_embedding_layers(folder_ / "out", config), layers);
  EXPECT_EQ(read_sentence_settings(folder_ / "out", config), settings);
  ConversionOptions wrong = options("hf2hf", source, "other");
  wrong.pooling = ops::PoolingMode::kMax;
  convert_checkpoint(wrong);
  EXPECT_EQ(read_embedding_layers(folder_ / "other", config).pooling,
            std::vector{ops::PoolingMode::kMax});
}

// One of the two has a bias in its convolution, the other gets zeros for it at the end.
TEST_F(CheckpointConversionTest, AGroupBertComesBackAsItself) {
  for (const char* name : {"groupbert_pretraining", "groupbert_pretraining_tf1"}) {
    const fs::path fixture = kFixtures.parent_path() / name;
    fs::remove_all(folder_);
    convert_checkpoint(options("hf2google", fixture, "google"));
    convert_checkpoint(options("google2hf", folder_ / "google", "again"));
    const auto before = formats::read_json_file(fixture / "config.json");
    const auto after = formats::read_json_file(folder_ / "again" / "config.json");
    EXPECT_EQ(after["architectures"], before["architectures"]) << name;
    EXPECT_EQ(after["conv_bias"], before["conv_bias"]) << name;
  }
}

// Graphcore's programs have no bias in the convolution, so zeros would only be extra parameters
// there.
TEST_F(CheckpointConversionTest, ZerosInTheConvolutionStayHuggingFaces) {
  const fs::path fixture = kFixtures.parent_path() / "groupbert_pretraining_tf1";
  const std::string bias = "bert.encoder.layer.1.convolution.groupconv.bias";
  convert_checkpoint(options("hf2hf", fixture, "hf"));
  ASSERT_NE(StoredModel(folder_ / "hf").find(bias), nullptr);
  for (const char* form : {"google", "graphcore", "research"}) {
    const auto report =
        convert_checkpoint(options((std::string("hf2") + form).c_str(), folder_ / "hf", form));
    EXPECT_EQ(StoredModel(folder_ / form).find(bias), nullptr) << form;
    EXPECT_TRUE(has_note(report, "left out, zeros without any effect: bert.encoder.layer.0.convo"));
    EXPECT_FALSE(has_note(report, "not part of the pre-training model")) << form;
    const std::string back = std::string(form) + "2hf";
    convert_checkpoint(options(back.c_str(), folder_ / form, back.c_str()));
    EXPECT_NE(StoredModel(folder_ / back).find(bias), nullptr) << form;
    EXPECT_EQ(formats::read_json_file(folder_ / back / "config.json")["conv_bias"], false) << form;
  }
}

TEST_F(CheckpointConversionTest, ABiasOfTheConvolutionIsCarriedWithAWord) {
  const fs::path fixture = kFixtures.parent_path() / "groupbert_pretraining";
  const auto report = convert_checkpoint(options("hf2graphcore", fixture, "graphcore"));
  EXPECT_TRUE(has_note(report,
                       "Graphcore's programs have no bias in the convolution; they leave these "
                       "out: bert.encoder.layer.0.convolution.groupconv.bias"));
  convert_checkpoint(options("graphcore2hf", folder_ / "graphcore", "hf"));
  EXPECT_EQ(formats::read_json_file(folder_ / "hf/config.json")["conv_bias"], true);
}

TEST_F(CheckpointConversionTest, ABaselineIsNoGroupBert) {
  ConversionOptions asked = options("hf2hf", kFixtures.parent_path() / "bert_pretraining_a", "hf");
  asked.is_baseline = true;
  EXPECT_TRUE(has_note(convert_checkpoint(asked),
                       "baseline is not needed: the tensors say that this is a BERT"));
  asked.checkpoint = kFixtures.parent_path() / "groupbert_pretraining";
  asked.output_dir = folder_ / "o";
  EXPECT_EQ(refusal(asked), "baseline says that " +
                                (asked.checkpoint / "model.safetensors").string() +
                                " is a BERT, but it holds a GroupBERT; leave --baseline out");
}

TEST_F(CheckpointConversionTest, TheVariantIsThatOfTheConfiguration) {
  const fs::path fixtures = kFixtures.parent_path();
  ConversionOptions asked = options("hf2hf", fixtures / "groupbert_pretraining", "hf");
  asked.config_file = fixtures / "bert_pretraining_a/config.json";
  EXPECT_EQ(refusal(asked), asked.config_file.string() + " describes a BERT, but " +
                                (asked.checkpoint / "model.safetensors").string() +
                                " holds a GroupBERT; give its configuration with --config");
}

TEST_F(CheckpointConversionTest, NothingGoesMissingUnsaid) {
  const auto report = convert_checkpoint(options("google2hf", kFixtures / "google", "hf"));
  EXPECT_EQ(report.tensors, 50);
  EXPECT_TRUE(has_note(report, "left out, 93 tensors of the optimiser's state: bert/embeddings"));
  EXPECT_TRUE(has_note(report, "not part of the pre-training model: qa_outputs.bias"));
  EXPECT_EQ(report.files.back(), "config.json");
  EXPECT_FALSE(has_note(report, "files of the folder")) << "all were of use";
  platform::write_file_atomically(folder_ / "hf/optimizer.pt", "x");
  EXPECT_TRUE(has_note(convert_checkpoint(options("hf2hf", folder_ / "hf", "again")),
                       "files of the folder that are not carried over: optimizer.pt"));
}

TEST_F(CheckpointConversionTest, HuggingFaceKeepsNamesAndTypes) {
  const DataFolder data({"checkpoints/hf_tiny_safetensors"});
  if (!data.missing().empty()) GTEST_SKIP() << data.missing();
  const fs::path source = data / "checkpoints/hf_tiny_safetensors";
  const auto report = convert_checkpoint(options("hf2hf", source, "hf"));
  expect_same_tensors(folder_ / "hf", source);
  EXPECT_TRUE(has_note(report, "not in the checkpoint, so not in the output: bert.pooler"));
  EXPECT_EQ(platform::read_file(folder_ / "hf/tokenizer.json"),
            platform::read_file(source / "tokenizer.json"));
}

TEST_F(CheckpointConversionTest, GoogleIsReadyForGraphcore) {
  ConversionOptions asked = options("google2graphcore", kFixtures / "google", "g");
  asked.vocab_size = 20;
  asked.use_qkv_bias = false;
  asked.use_cls_layer = false;
  const auto report = convert_checkpoint(asked);
  const formats::ModelTensors tensors(folder_ / "g");
  EXPECT_EQ(formats::find_tensor(tensors.tensors(), "bert/embeddings/word_embeddings")->shape,
            (Shape{20, 4}));
  EXPECT_EQ(formats::find_tensor(tensors.tensors(), "bert/embeddings/word_embeddings")->dtype,
            DType::kF16);
  EXPECT_EQ(formats::find_tensor(tensors.tensors(), "cls/squad/output_weights")->dtype,
            DType::kF32);
  EXPECT_NE(formats::find_tensor(tensors.tensors(),
                                 "bert/encoder/layer_1/attention/projection/dense/kernel"),
            nullptr);
  EXPECT_EQ(
      formats::find_tensor(tensors.tensors(), "bert/encoder/layer_1/attention/self/query/bias"),
      nullptr);
  EXPECT_EQ(formats::find_tensor(tensors.tensors(), "cls/predictions/transform/dense/kernel"),
            nullptr);
  EXPECT_TRUE(has_note(report, "the vocabulary was cut from 22 rows to 20"));
  EXPECT_TRUE(has_note(report, "left out, as asked: bert.encoder.layer.0.attention.self.key.bias"));
  EXPECT_EQ(formats::read_json_file(folder_ / "g/bert_config.json")["use_cls_layer"], false);
}

// Biases that the model lacks are zeros for transformers; the rows that were cut come back with the
// whole vocabulary.
TEST_F(CheckpointConversionTest, GraphcoreIsCompletedForHuggingFace) {
  ConversionOptions asked = options("google2graphcore", kFixtures / "google", "g");
  asked.vocab_size = 20;
  asked.use_qkv_bias = false;
  asked.precision = 32;
  convert_checkpoint(asked);
  EXPECT_EQ(text::Vocabulary::load(folder_ / "g/vocab.txt").size(), 20);
  ConversionOptions back = options("graphcore2hf", folder_ / "g", "hf");
  back.vocabulary_file = kFixtures / "google/vocab.txt";
  const auto report = convert_checkpoint(back);
  const formats::ModelTensors tensors(folder_ / "hf");
  const TensorView* bias =
      formats::find_tensor(tensors.tensors(), "bert.encoder.layer.1.attention.self.value.bias");
  ASSERT_NE(bias, nullptr);
  EXPECT_TRUE(std::ranges::all_of(bias->bytes, [](std::byte b) { return b == std::byte{0}; }));
  EXPECT_EQ(formats::find_tensor(tensors.tensors(), "cls.predictions.bias")->shape, Shape{22});
  EXPECT_TRUE(has_note(report,
                       "2 rows, the mean of the others, were appended to the "
                       "vocabulary's 20"));
  EXPECT_TRUE(
      has_note(report, "added, zeros for biases that the model does not have: bert.encoder"));
  const auto config = formats::read_json_file(folder_ / "hf/config.json");
  EXPECT_EQ(config["layer_norm_eps"], 1e-3);
  EXPECT_EQ(config["hidden_act"], "gelu_new");
  EXPECT_EQ(config["vocab_size"], 22);
  convert_checkpoint(options("graphcore2google", folder_ / "g", "google"));
  const formats::ModelTensors google(folder_ / "google");
  EXPECT_NE(formats::find_tensor(google.tensors(), "bert/encoder/layer_0/attention/self/key/bias"),
            nullptr);
}

TEST_F(CheckpointConversionTest, ConfigurationFollowsTheWordTable) {
  fs::copy(kFixtures / "google", folder_ / "source");
  formats::Json config = formats::read_json_file(folder_ / "source/bert_config.json");
  config["vocab_size"] = 30522;
  platform::write_file_atomically(folder_ / "source/bert_config.json", config.dump());
  const auto report = convert_checkpoint(options("google2hf", folder_ / "source", "hf"));
  EXPECT_TRUE(
      has_note(report, "the configuration's vocab_size 30522 is now the 22 of the word table"));
  EXPECT_EQ(formats::read_json_file(folder_ / "hf/config.json")["vocab_size"], 22);
}

TEST_F(CheckpointConversionTest, OldAndRedundantTensorsAreModernised) {
  const std::vector<float> values(22 * 4, 0.5f);
  const auto tensor = [&](const char* name, Shape shape) {
    const auto elements = static_cast<size_t>(shape.elements());
    return TensorView{name, DType::kF32, std::move(shape),
                      std::as_bytes(std::span(values).first(elements))};
  };
  formats::write_safetensors(folder_ / "old.safetensors",
                             std::vector{tensor("bert.embeddings.word_embeddings.weight", {22, 4}),
                                         tensor("cls.predictions.decoder.weight", {22, 4}),
                                         tensor("bert.embeddings.position_ids", {1, 16}),
                                         tensor("bert.embeddings.LayerNorm.gamma", {4})});
  ConversionOptions asked = options("hf2hf", folder_ / "old.safetensors", "hf");
  asked.config_file = kFixtures / "google/bert_config.json";
  const auto report = convert_checkpoint(asked);
  EXPECT_EQ(report.tensors, 2);
  const formats::ModelTensors tensors(folder_ / "hf");
  EXPECT_NE(formats::find_tensor(tensors.tensors(), "bert.embeddings.LayerNorm.weight"), nullptr);
  EXPECT_TRUE(has_note(report, "left out, a constant: bert.embeddings.position_ids"));
  EXPECT_TRUE(has_note(report, "left out, a copy of bert.embeddings.word_embeddings.weight"));
  EXPECT_TRUE(has_note(report, "renamed, 1 tensors: bert.embeddings.LayerNorm.gamma"));
  EXPECT_TRUE(has_note(report, "there is no vocabulary"));
}

TEST_F(CheckpointConversionTest, WrongInputIsRefused) {
  EXPECT_NE(refusal(options("hf2google", kFixtures / "google", "o"))
                .find("holds tensors under Google's names; choose an action that begins with "
                      "google2"),
            std::string::npos);
  EXPECT_NE(refusal(options("hf2hf", folder_ / "absent", "o")).find("does not exist"),
            std::string::npos);
  const std::vector<float> value = {1};
  formats::write_safetensors(folder_ / "other.safetensors",
                             std::vector<TensorView>{{"conv.bias", DType::kF32, Shape{1},
                                                      std::as_bytes(std::span(value))}});
  EXPECT_EQ(refusal(options("hf2google", folder_ / "other.safetensors", "o")),
            (folder_ / "other.safetensors").string() + " holds no tensor of a BERT");
  formats::write_safetensors(
      folder_ / "glu.safetensors",
      std::vector<TensorView>{{"bert.encoder.layer.0.convolution.glu.weight", DType::kF32, Shape{1},
                               std::as_bytes(std::span(value))}});
  EXPECT_NE(refusal(options("hf2google", folder_ / "glu.safetensors", "o"))
                .find("convolution.glu.weight is [1], where a matrix is expected"),
            std::string::npos)
      << refusal(options("hf2google", folder_ / "glu.safetensors", "o"));
  ConversionOptions with_config = options("hf2hf", folder_ / "other.safetensors", "o");
  with_config.config_file = kFixtures / "google/bert_config.json";
  EXPECT_EQ(refusal(with_config),
            (folder_ / "other.safetensors").string() + " holds no tensor of a BERT");
  formats::write_safetensors(
      folder_ / "twice.safetensors",
      std::vector<TensorView>{
          {"a.LayerNorm.beta", DType::kF32, Shape{1}, std::as_bytes(std::span(value))},
          {"a.LayerNorm.bias", DType::kF32, Shape{1}, std::as_bytes(std::span(value))}});
  EXPECT_EQ(refusal(options("hf2google", folder_ / "twice.safetensors", "o")),
            (folder_ / "twice.safetensors").string() +
                ": tensor a.LayerNorm.bias is present under two names; remove one");
  platform::write_file_atomically(folder_ / "bert_config.json", R"({"hidden_size": 8,
      "num_attention_heads": 2, "num_hidden_layers": 2, "intermediate_size": 8,
      "max_position_embeddings": 16})");
  ConversionOptions asked = options("google2hf", kFixtures / "google", "o");
  asked.config_file = folder_ / "bert_config.json";
  EXPECT_NE(refusal(asked).find(
                " is [4], but [8] in its configuration; give the right one with --config"),
            std::string::npos)
      << refusal(asked);
  EXPECT_FALSE(fs::exists(folder_ / "o")) << "nothing is written before all is known";
}

// Constants of the programs are not in the tensors, so one form is not taken for another.
TEST_F(CheckpointConversionTest, AFormIsKnownByItsNames) {
  convert_checkpoint(options("google2research", kFixtures / "google", "research"));
  const std::pair<fs::path, std::pair<std::string, std::string>> kSources[] = {
      {kFixtures / "model.safetensors", {"hf", "Hugging Face's"}},
      {kFixtures / "google", {"google", "Google's"}},
      {kFixtures / "graphcore", {"graphcore", "Graphcore's"}},
      {folder_ / "research", {"research", "Graphcore's research"}}};
  for (const auto& [source, form] : kSources) {
    for (const std::string action : {"hf2hf", "google2hf", "graphcore2hf", "research2hf"}) {
      ConversionOptions asked = options(action.c_str(), source, (form.first + action).c_str());
      asked.config_file = kFixtures / "google/bert_config.json";
      const std::string said = refusal(asked);
      if (action == form.first + "2hf") {
        EXPECT_EQ(said, "taken") << source;
        continue;
      }
      const std::string wanted = " holds tensors under " + form.second +
                                 " names; choose an action that begins with " + form.first + "2";
      EXPECT_TRUE(said.ends_with(wanted)) << action << ": " << said;
    }
  }
}

TEST_F(CheckpointConversionTest, NamesThatDoNotTellAreTakenAsTheActionSays) {
  const std::vector<float> values(22 * 4, 0.5f);
  const fs::path source = folder_ / "embeddings.safetensors";
  formats::write_safetensors(
      source, std::vector<TensorView>{{"bert/embeddings/word_embeddings", DType::kF32, Shape{22, 4},
                                       std::as_bytes(std::span(values))}});
  for (const char* action : {"google2google", "graphcore2google", "research2google"}) {
    EXPECT_EQ(refusal(options(action, source, action)), "taken");
  }
  EXPECT_EQ(refusal(options("hf2google", source, "o")),
            source.string() +
                " holds tensors under TensorFlow's names; choose an action that begins with "
                "google2, graphcore2 or research2");
}

TEST_F(CheckpointConversionTest, GraphcoresEpsilonIsOneWhateverTheFileSays) {
  fs::copy(kFixtures / "graphcore", folder_ / "source");
  formats::Json config = formats::read_json_file(folder_ / "source/bert_config.json");
  config["layer_norm_eps"] = 1e-5;
  platform::write_file_atomically(folder_ / "source/bert_config.json", config.dump());
  const auto report = convert_checkpoint(options("graphcore2hf", folder_ / "source", "hf"));
  EXPECT_EQ(formats::read_json_file(folder_ / "hf/config.json")["layer_norm_eps"], 1e-3);
  EXPECT_TRUE(has_note(report,
                       "bert_config.json says layer_norm_eps 1e-05, which Graphcore's programs do "
                       "not read"));
  EXPECT_TRUE(has_note(report, "LayerNorm with epsilon 0.001: config.json says so"));
}

// Hugging Face's programs and ours compute the exact form.
TEST_F(CheckpointConversionTest, TensorflowsProgramsComputeAnotherGelu) {
  const auto from_google = convert_checkpoint(options("google2hf", kFixtures / "google", "hf"));
  EXPECT_FALSE(has_note(from_google, "erf form"));
  EXPECT_TRUE(has_note(convert_checkpoint(options("hf2google", folder_ / "hf", "google")),
                       "hidden_act gelu is the erf form; Google's programs compute it by tanh"));
  EXPECT_TRUE(has_note(convert_checkpoint(options("hf2graphcore", folder_ / "hf", "graphcore")),
                       "hidden_act gelu is the erf form; Graphcore's programs compute it by tanh"));
  EXPECT_FALSE(has_note(
      convert_checkpoint(options("google2graphcore", folder_ / "google", "again")), "erf form"));
}

TEST_F(CheckpointConversionTest, WrongOptionsAreRefused) {
  ConversionOptions asked = options("google2hf", kFixtures / "google", "");
  platform::write_file_atomically(folder_ / "file", "x");
  EXPECT_NE(refusal(asked).find("is not empty; choose another --output-dir or remove it"),
            std::string::npos);
  asked = options("google2hf", kFixtures / "google", "o");
  asked.precision = 8;
  EXPECT_EQ(refusal(asked), "`precision` is 8; choose 16 or 32");
  asked = options("google2hf", kFixtures / "google", "o");
  asked.vocab_size = 0;
  EXPECT_EQ(refusal(asked), "vocab_size is 0; choose 1 to 10000000");
  asked = options("google2hf", kFixtures / "google", "o");
  asked.use_qkv_split = false;
  EXPECT_NE(refusal(asked).find("are for Graphcore's checkpoints"), std::string::npos);
  asked = options("google2graphcore", kFixtures / "google", "o");
  asked.num_embeddings_splits = 5;
  EXPECT_EQ(refusal(asked),
            "22 word embeddings cannot be split into 5 equal tables; choose a divisor");
}

}  // namespace
}  // namespace cloze::checkpoints
