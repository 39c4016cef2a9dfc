#include "checkpoints/converted_folder.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "formats/json.h"
#include "platform/files/atomic_file.h"
#include "platform/files/file.h"

namespace cloze::checkpoints {
namespace {

const std::filesystem::path kGoogle =
    std::filesystem::path(CLOZE_SOURCE_DIR) / "tests/fixtures/tf_checkpoint/google";

ConvertedModel model_of(int64_t vocab_size) {
  ConvertedModel model{.source_name = "bert_model.ckpt",
                       .vocabulary_file = kGoogle / "vocab.txt",
                       .architecture = "BertForSequenceClassification",
                       .dtype = "float16",
                       .num_labels = 3};
  model.config.vocab_size = vocab_size;
  return model;
}

std::string text_of(const std::vector<TextFile>& files, std::string_view name) {
  const auto found = std::ranges::find(files, name, &TextFile::name);
  return found == files.end() ? "absent" : found->text;
}

TEST(ConvertedFolder, ConfigurationSaysWhatTheWeightsAre) {
  std::vector<std::string> notes;
  const auto files = hugging_face_files(model_of(22), notes);
  const auto config = formats::parse_json(text_of(files, "config.json"));
  ASSERT_TRUE(config);
  EXPECT_EQ((*config)["architectures"][0], "BertForSequenceClassification");
  EXPECT_EQ((*config)["torch_dtype"], "float16");
  EXPECT_EQ((*config)["id2label"].size(), 3u);
  EXPECT_EQ((*config)["label2id"]["LABEL_2"], 2);
  EXPECT_EQ(files.back().name, "config.json") << "last: without it the folder is no model";
  EXPECT_TRUE(notes.empty());
  EXPECT_NE(text_of(files, "README.md").find("bert_model.ckpt"), std::string::npos);
}

TEST(ConvertedFolder, HeadsTellTheArchitecture) {
  const auto described = [](std::vector<const char*> names) {
    std::vector<formats::TensorView> tensors;
    for (const char* name : names) tensors.push_back({name, DType::kBF16, Shape{3, 4}, {}});
    ConvertedModel model;
    describe_tensors(tensors, model);
    return model;
  };
  EXPECT_EQ(described({"bert.pooler.dense.weight"}).architecture, "BertModel");
  EXPECT_EQ(described({"bert.pooler.dense.weight"}).dtype, "bfloat16");
  EXPECT_EQ(described({"cls.predictions.bias"}).architecture, "BertForMaskedLM");
  EXPECT_EQ(described({"cls.predictions.bias", "cls.seq_relationship.bias"}).architecture,
            "BertForPreTraining");
  EXPECT_EQ(described({"classifier.weight"}).architecture, "BertForTokenClassification");
  EXPECT_EQ(described({"bert.pooler.dense.weight", "classifier.weight"}).architecture,
            "BertForSequenceClassification");
  EXPECT_EQ(described({"classifier.weight"}).num_labels, 3);
  EXPECT_EQ(described({"classifier.weight", "qa_outputs.bias"}).num_labels, 0);
}

TEST(ConvertedFolder, AGroupBertHasItsOwnClasses) {
  ConvertedModel model = model_of(22);
  model.config.groupbert = true;
  const std::vector<formats::TensorView> tensors{
      {"cls.predictions.bias", DType::kF32, Shape{3, 4}, {}},
      {"cls.seq_relationship.bias", DType::kF32, Shape{2}, {}}};
  describe_tensors(tensors, model);
  std::vector<std::string> notes;
  const auto config = formats::parse_json(text_of(hugging_face_files(model, notes), "config.json"));
  EXPECT_EQ((*config)["architectures"][0], "GroupBertForPreTraining");
  EXPECT_EQ((*config)["model_type"], "groupbert");
}

TEST(ConvertedFolder, KeysOfTheSourceStay) {
  ConvertedModel model = model_of(24);
  model.source_config = {{"model_type", "bert"}, {"mine", 1}, {"dtype", "float32"}};
  std::vector<std::string> notes;
  const auto config = formats::parse_json(text_of(hugging_face_files(model, notes), "config.json"));
  EXPECT_EQ((*config)["mine"], 1);
  EXPECT_EQ((*config)["vocab_size"], 24);
  EXPECT_EQ((*config)["dtype"], "float16");
  EXPECT_FALSE(config->contains("torch_dtype"));
  EXPECT_EQ(notes, std::vector<std::string>{
                       "the last 2 of 24 word embeddings belong to no token (padding)"});
}

// As in a folder that holds only a bert_config.json.
TEST(ConvertedFolder, WhatGooglesConfigurationLacksIsAdded) {
  ConvertedModel model = model_of(22);
  model.source_config = {{"hidden_size", 8}, {"mine", 1}};
  model.architecture = "BertForSequenceClassification";
  model.num_labels = 3;
  std::vector<std::string> notes;
  const auto config = formats::parse_json(text_of(hugging_face_files(model, notes), "config.json"));
  EXPECT_EQ((*config)["model_type"], "bert");
  EXPECT_EQ((*config)["architectures"][0], "BertForSequenceClassification");
  EXPECT_EQ((*config)["id2label"].size(), 3u);
  EXPECT_EQ((*config)["mine"], 1);
}

TEST(ConvertedFolder, TokensWithoutAnEmbeddingAreCut) {
  std::vector<std::string> notes;
  const auto files = hugging_face_files(model_of(20), notes);
  EXPECT_TRUE(text_of(files, "vocab.txt").ends_with("\nn\no\n"));
  EXPECT_EQ(text_of(files, "tokenizer.json").find("\"p\":"), std::string::npos);
  EXPECT_NE(text_of(files, "tokenizer.json").find("\"o\":19"), std::string::npos);
  EXPECT_EQ(notes, std::vector<std::string>{"the vocabulary's 22 tokens were cut to the 20 that "
                                            "have an embedding, the last is now o"});
}

TEST(ConvertedFolder, AVocabularyOfAnotherModelIsRefused) {
  std::vector<std::string> notes;
  EXPECT_THROW(hugging_face_files(model_of(11), notes), UserError) << "it has 22 tokens";
  EXPECT_THROW(tensorflow_files(model_of(11), false, true, notes), UserError);
}

TEST(ConvertedFolder, RowsOfAddedTokensAreNoPadding) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "added_rows";
  std::filesystem::create_directories(folder);
  platform::write_file_atomically(folder / "vocab.txt", platform::read_file(kGoogle / "vocab.txt"));
  platform::write_file_atomically(folder / "added_tokens.json", R"({"<ent>": 22})");
  ConvertedModel model = model_of(24);
  model.vocabulary_file = folder / "vocab.txt";
  const std::string padding = "the last 1 of 24 word embeddings belong to no token (padding)";
  std::vector<std::string> notes;
  hugging_face_files(model, notes);
  EXPECT_EQ(notes,
            (std::vector<std::string>{
                folder.string() + ": added token \"<ent>\" (id 22) is cut like any other text",
                padding}));
  notes.clear();
  tensorflow_files(model, false, true, notes);
  EXPECT_EQ(notes, std::vector<std::string>{padding});
}

TEST(ConvertedFolder, AForeignTokenizerIsCopiedAndNotMade) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "foreign_tokenizer";
  std::filesystem::create_directories(folder);
  ConvertedModel model = model_of(20);
  model.vocabulary_file = folder / "vocab.txt";
  const std::string vocabulary = platform::read_file(kGoogle / "vocab.txt");
  const std::string config = R"({"tokenizer_class": "BertJapaneseTokenizer"})";
  platform::write_file_atomically(folder / "vocab.txt", vocabulary);
  platform::write_file_atomically(folder / "tokenizer_config.json", config);
  std::vector<std::string> notes;
  const auto files = hugging_face_files(model, notes);
  EXPECT_EQ(text_of(files, "vocab.txt"), vocabulary);
  EXPECT_EQ(text_of(files, "tokenizer_config.json"), config);
  EXPECT_EQ(text_of(files, "tokenizer.json"), "absent");
  EXPECT_EQ(notes, std::vector<std::string>{"tokenizer_class is \"BertJapaneseTokenizer\": the "
                                            "tokenizer's files are copied as they are"});
}

TEST(ConvertedFolder, WithoutAVocabularyItSaysSo) {
  ConvertedModel model = model_of(22);
  model.vocabulary_file.clear();
  std::vector<std::string> notes;
  EXPECT_EQ(text_of(hugging_face_files(model, notes), "tokenizer.json"), "absent");
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("give --vocab-file"), std::string::npos);
}

TEST(ConvertedFolder, TensorflowsConfigurationHasGraphcoresSwitchesOnlyThere) {
  std::vector<std::string> notes;
  const auto google = formats::parse_json(
      text_of(tensorflow_files(model_of(22), false, true, notes), "bert_config.json"));
  EXPECT_FALSE(google->contains("use_qkv_split"));
  EXPECT_FALSE(google->contains("layer_norm_eps"));
  const auto graphcore = formats::parse_json(
      text_of(tensorflow_files(model_of(22), true, false, notes), "bert_config.json"));
  EXPECT_EQ((*graphcore)["use_qkv_split"], false);
  EXPECT_EQ((*graphcore)["vocab_size"], 22);
}

TEST(ConvertedFolder, TensorflowsVocabularyIsCutToTheRows) {
  std::vector<std::string> notes;
  const auto files = tensorflow_files(model_of(20), true, true, notes);
  EXPECT_TRUE(text_of(files, "vocab.txt").ends_with("\nn\no\n"));
  EXPECT_EQ(notes, std::vector<std::string>{"the vocabulary's 22 tokens were cut to the 20 that "
                                            "have an embedding, the last is now o"});
}

}  // namespace
}  // namespace cloze::checkpoints
