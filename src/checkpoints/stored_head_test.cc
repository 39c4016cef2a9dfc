#include "checkpoints/stored_head.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "platform/files/atomic_file.h"
#include "platform/files/own_folder_test.h"

namespace cloze::checkpoints {
namespace {

using models::BertHead, models::HeadKind;

const std::vector<float> kValues(6, 0.5f);

formats::TensorView tensor(const char* name, Shape shape) {
  return {name, DType::kF32, std::move(shape), std::as_bytes(std::span(kValues))};
}

class StoredHeadTest : public platform::OwnFolderTest {
 protected:
  BertHead head_of(const std::string& config, const std::vector<formats::TensorView>& tensors) {
    platform::write_file_atomically(folder_ / "config.json", config);
    formats::write_safetensors(folder_ / "model.safetensors", tensors);
    return read_stored_head(folder_);
  }
};

// As Google's run_classifier.py and run_squad.py call them, with a bert_config.json that names no
// head.
TEST_F(StoredHeadTest, TensorsTellWhereTheConfigurationDoesNot) {
  const formats::TensorView pooler = tensor("bert/pooler/dense/kernel", {2, 3});
  const BertHead classifier = head_of("{}", {tensor("output_weights", {3, 2}), pooler});
  EXPECT_EQ(classifier.kind, HeadKind::kSequenceClassification);
  EXPECT_EQ(classifier.labels, (std::vector<std::string>{"LABEL_0", "LABEL_1", "LABEL_2"}));
  EXPECT_EQ(head_of("{}", {tensor("cls/squad/output_weights", {2, 3})}).kind,
            HeadKind::kQuestionAnswering);
  EXPECT_EQ(head_of("{}", {pooler}).kind, HeadKind::kPretraining);
  EXPECT_EQ(head_of("{}", {tensor("classifier.weight", {2, 3})}).kind,
            HeadKind::kTokenClassification);
  const BertHead named =
      head_of(R"({"id2label": {"0": "no", "1": "yes"}})", {tensor("classifier.weight", {2, 3})});
  EXPECT_EQ(named.labels, (std::vector<std::string>{"no", "yes"}));
}

TEST_F(StoredHeadTest, TheConfigurationGoesFirst) {
  EXPECT_EQ(
      head_of(R"({"architectures": ["BertForPreTraining"]})", {tensor("classifier.weight", {2, 3})})
          .kind,
      HeadKind::kPretraining);
  EXPECT_EQ(
      head_of(R"({"architectures": ["BertForMultipleChoice"]})",
              {tensor("classifier.weight", {1, 6}), tensor("bert.pooler.dense.weight", {3, 2})})
          .kind,
      HeadKind::kMultipleChoice);
  EXPECT_THROW(head_of(R"({"architectures": ["BertForNextSentencePrediction"]})",
                       {tensor("classifier.weight", {2, 3})}),
               UserError);
}

}  // namespace
}  // namespace cloze::checkpoints
