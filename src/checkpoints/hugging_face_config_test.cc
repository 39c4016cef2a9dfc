#include "checkpoints/hugging_face_config.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "base/data_folder_test.h"
#include "base/error.h"
#include "formats/json.h"

namespace cloze::checkpoints {
namespace {

using models::Activation, models::BertConfig, models::BertHead;

BertConfig config_of(const std::string& text) {
  return bert_config_from_json(*formats::parse_json(text), "config.json");
}

BertHead head_of(const std::string& keys) {
  const std::string text = R"({"architectures": ["BertForSequenceClassification"], )" + keys + "}";
  return bert_head_from_json(*formats::parse_json(text), "config.json");
}

template <class Read>
std::string refusal(const Read& read, const std::string& text) {
  try {
    read(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}
std::string refusal_of(const std::string& text) { return refusal(config_of, text); }
std::string head_refusal_of(const std::string& keys) { return refusal(head_of, keys); }

TEST(HuggingFaceConfig, ReadsWhatItWrites) {
  BertConfig config;
  config.vocab_size = 1000;
  config.hidden_size = 64;
  config.num_attention_heads = 4;
  config.hidden_act = Activation::kGeluTanh;
  config.layer_norm_eps = 1e-5;
  config.use_qkv_bias = false;
  config.use_cls_layer = false;
  EXPECT_EQ(config_of(hugging_face_config_text(config)), config);
  EXPECT_EQ(config_of(hugging_face_config_text(BertConfig{})), BertConfig{});
}

TEST(HuggingFaceConfig, ReadsTheHeadsThatItWrites) {
  for (const models::HeadTraits& row : models::all_heads()) {
    for (const bool is_multi_label : {false, true}) {
      BertHead head{.kind = row.kind};
      if (row.has_labels) head.labels = {"no", "yes"};
      if (row.has_dropout) head.classifier_dropout = 0.25;
      head.is_multi_label = is_multi_label && row.kind == models::HeadKind::kSequenceClassification;
      const auto text = formats::parse_json(hugging_face_config_text(BertConfig{}, head));
      const BertHead read = bert_head_from_json(*text, "config.json");
      EXPECT_EQ(read.kind, head.kind) << row.name;
      EXPECT_EQ(read.labels, head.labels) << row.name;
      EXPECT_EQ(read.is_multi_label, head.is_multi_label) << row.name;
      EXPECT_EQ(read.classifier_dropout, head.classifier_dropout) << row.name;
    }
  }
}

TEST(HuggingFaceConfig, APlainBertHasNoKeysOfOurs) {
  const std::string text = hugging_face_config_text(BertConfig{});
  EXPECT_EQ(text.find("use_qkv_bias"), std::string::npos);
  EXPECT_NE(text.find("\"BertForPreTraining\""), std::string::npos);
}

TEST(HuggingFaceConfig, ReadsGooglesFileAndForeignKeys) {
  const BertConfig config = config_of(
      R"({"hidden_size": 128, "num_attention_heads": 2, "directionality": "bidi",
          "pooler_fc_size": 768, "hidden_act": "gelu_pytorch_tanh", "classifier_dropout": null})");
  EXPECT_EQ(config.hidden_size, 128);
  EXPECT_EQ(config.hidden_act, Activation::kGeluTanh);
  EXPECT_EQ(config.layer_norm_eps, 1e-12);
}

TEST(HuggingFaceConfig, RefusalsNameFileKeyAndValue) {
  EXPECT_EQ(refusal_of(R"({"model_type": "roberta"})"),
            "config.json: model_type is \"roberta\"; supported are \"bert\" and \"groupbert\"");
  EXPECT_EQ(
      refusal_of(R"({"position_embedding_type": "relative_key"})"),
      "config.json: position_embedding_type is \"relative_key\"; only \"absolute\" is supported");
  EXPECT_EQ(refusal_of(R"({"is_decoder": true})"),
            "config.json: is_decoder is true; only false is supported");
  EXPECT_EQ(refusal_of(R"({"hidden_act": "relu"})"),
            "config.json: hidden_act relu is not supported; choose gelu, gelu_new, "
            "gelu_pytorch_tanh");
  EXPECT_EQ(refusal_of(R"({"hidden_size": "768"})"),
            "config.json: hidden_size is \"768\"; it must be a whole number");
  EXPECT_EQ(refusal_of(R"({"use_cls_layer": 1})"),
            "config.json: use_cls_layer is 1; it must be true or false");
  EXPECT_NE(refusal_of(R"({"hidden_size": 100, "num_attention_heads": 12})").find("not divisible"),
            std::string::npos);
  EXPECT_EQ(refusal_of("[]"), "config.json: not a JSON object");
}

TEST(HuggingFaceConfig, AHeadThatIsNotOursIsRefusedByName) {
  const auto read = [](const std::string& text) {
    return bert_head_from_json(*formats::parse_json(text), "config.json");
  };
  EXPECT_EQ(refusal(read, R"({"architectures": ["BertForNextSentencePrediction"]})"),
            "config.json: architectures names \"BertForNextSentencePrediction\"; known are "
            "BertForPreTraining, BertForQuestionAnswering, BertForSequenceClassification, "
            "BertForTokenClassification, BertForMultipleChoice, BertModel");
}

TEST(HuggingFaceConfig, WordsAreTiedWhereTheyArePredicted) {
  const auto untied = [](const std::string& keys) {
    return refusal_of(R"({"tie_word_embeddings": false)" + keys + "}");
  };
  const std::string refused = "config.json: tie_word_embeddings is false; only true is supported";
  EXPECT_EQ(untied(""), refused);
  EXPECT_EQ(untied(R"(, "architectures": ["BertForMaskedLM"])"), refused);
  EXPECT_EQ(untied(R"(, "architectures": ["BertForQuestionAnswering"])"), "accepted");
  EXPECT_EQ(untied(R"(, "architectures": ["BertForSequenceClassification"])"), "accepted");
}

TEST(HuggingFaceConfig, SizesHaveBounds) {
  EXPECT_EQ(refusal_of(R"({"hidden_size": 1000000000000})"),
            "config.json: hidden_size is 1000000000000; it must be at most 16777216");
  EXPECT_EQ(refusal_of(R"({"num_hidden_layers": 2000000000})"),
            "config.json: num_hidden_layers is 2000000000; it must be at most 10000");
}

TEST(HuggingFaceConfig, GooglesFileSaysTheEpsilonWhereItIsAnother) {
  BertConfig config;
  EXPECT_EQ(google_config_text(config).find("layer_norm_eps"), std::string::npos);
  config.layer_norm_eps = 0.5;
  EXPECT_EQ(config_of(google_config_text(config)), config);
}

TEST(HuggingFaceConfig, ClassesByNameOrByNumber) {
  EXPECT_EQ(head_of(R"("id2label": {"0": "no", "1": "yes"})").labels,
            (std::vector<std::string>{"no", "yes"}));
  EXPECT_EQ(head_of(R"("id2label": {"0": 1, "1": 2})").labels,
            (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(head_of(R"("num_labels": 3)").labels.size(), 3u);
  EXPECT_EQ(head_of(R"("problem_type": null)").labels.size(), 2u);
  EXPECT_TRUE(head_of(R"("num_labels": 1, "problem_type": "regression")").is_regression());
  EXPECT_EQ(head_refusal_of(R"("id2label": {"0": "same", "1": "same"})"),
            "config.json: id2label has \"same\" twice; give each class a name of its own");
  EXPECT_EQ(
      head_refusal_of(R"("num_labels": 3, "problem_type": "regression")"),
      "config.json: problem_type is regression with 3 labels; only single_label_classification "
      "and multi_label_classification are supported for that many");
  for (const int count : {1, 3}) {
    EXPECT_TRUE(
        head_of(
            fmt::format(R"("num_labels": {}, "problem_type": "multi_label_classification")", count))
            .is_multi_label);
  }
  EXPECT_FALSE(head_of(R"("num_labels": 3)").is_multi_label);
  EXPECT_NE(head_refusal_of(R"("num_labels": 0)"), "accepted");
}

TEST(HuggingFaceConfig, ReadsStoredFolders) {
  const DataFolder data({"checkpoints/hf_tiny_safetensors", "checkpoints/tf1_tiny"});
  if (!data.missing().empty()) GTEST_SKIP() << data.missing();
  const std::filesystem::path folder = data / "checkpoints";
  EXPECT_EQ(read_hugging_face_config(folder / "hf_tiny_safetensors" / "config.json").hidden_size,
            32);
  EXPECT_GT(read_hugging_face_config(folder / "tf1_tiny" / "bert_config.json").hidden_size, 0);
}

}  // namespace
}  // namespace cloze::checkpoints
