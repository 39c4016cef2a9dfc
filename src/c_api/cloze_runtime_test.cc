#include <cloze_runtime.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "engine/instruction_set.h"
#include "inference/inference_client.h"
#include "inference/packed_model.h"
#include "inference/small_model_test.h"
#include "platform/files/file.h"

namespace cloze {
namespace {

using inference::PackedModel;
using inference::SmallModelFolder;
using models::HeadKind;

class RuntimeTest : public testing::TestWithParam<HeadKind> {
 protected:
  void SetUp() override {
    PackedModel::pack(inference::open_pretrained_model(folder_.path()), {}).write(file_);
    model_ = cloze_model_open(file_.c_str());
    ASSERT_NE(model_, nullptr) << cloze_last_error();
    client_ = cloze_client_open(model_, 1);
    ASSERT_NE(client_, nullptr) << cloze_last_error();
  }
  void TearDown() override {
    cloze_client_close(client_);
    cloze_model_close(model_);
  }

  // The logits of a sequence of so many tokens.
  int64_t logits_of(int64_t tokens) const {
    const models::HeadOutput& output = models::traits_of(GetParam()).outputs.front();
    const int64_t width = output.width(SmallModelFolder::config(), folder_.head());
    return output.rows == models::OutputRows::kTokens ? tokens * width : width;
  }

  const SmallModelFolder folder_{GetParam(), "runtime_test"};
  const std::string file_ = (folder_.path() / "model.cloze").string();
  cloze_model* model_ = nullptr;
  cloze_client* client_ = nullptr;
};

TEST_P(RuntimeTest, GivesTheLogitsOfAClientInTheOrderOfTheSequences) {
  const std::vector<data::Sample> samples = {inference::random_sample(3, 1),
                                             inference::random_sample(9, 2)};
  const models::HeadOutput& output = models::traits_of(GetParam()).outputs.front();
  inference::InferenceClient client(std::make_shared<const PackedModel>(PackedModel::open(file_)),
                                    1);
  std::vector<float> expected;
  for (const data::Sample& sample : samples) {
    client.run({&sample, 1}, [&](const data::MicroBatch&) {
      const float* logits = client.output(output.name).data();
      expected.insert(expected.end(), logits, logits + logits_of(std::ssize(sample.input_ids)));
    });
  }

  std::vector<int32_t> ids, types;
  std::vector<int64_t> lengths;
  for (const data::Sample& sample : samples) {
    ids.insert(ids.end(), sample.input_ids.begin(), sample.input_ids.end());
    types.insert(types.end(), sample.token_type_ids.begin(), sample.token_type_ids.end());
    lengths.push_back(std::ssize(sample.input_ids));
  }
  const cloze_batch batch{ids.data(), types.data(), lengths.data(), 2};
  std::vector<float> logits(expected.size());
  ASSERT_EQ(cloze_logits_count(model_, &batch), std::ssize(logits));
  ASSERT_EQ(cloze_run(client_, &batch, logits.data()), 0) << cloze_last_error();
  EXPECT_EQ(logits, expected);
}

TEST_P(RuntimeTest, SaysWhatTheModelIs) {
  EXPECT_EQ(cloze_model_architecture(model_), models::traits_of(GetParam()).architecture);
  EXPECT_EQ(cloze_model_positions(model_), 64);
  EXPECT_EQ(cloze_model_vocabulary(model_), 97);
  EXPECT_STRNE(cloze_version(), "");
}

TEST(Runtime, NamesAGroupBert) {
  models::BertConfig config = SmallModelFolder::config();
  config.groupbert = true;
  config.groupbert_conv_group_size = 8;
  const SmallModelFolder folder(HeadKind::kPretraining, "runtime_groupbert_test", config);
  const std::string file = (folder.path() / "model.cloze").string();
  PackedModel::pack(inference::open_pretrained_model(folder.path()), {}).write(file);
  cloze_model* model = cloze_model_open(file.c_str());
  ASSERT_NE(model, nullptr) << cloze_last_error();
  EXPECT_STREQ(cloze_model_architecture(model), "GroupBertForPreTraining");
  const int32_t id = 2;
  const int64_t length = 1;
  const cloze_batch batch{&id, nullptr, &length, 1};
  EXPECT_EQ(cloze_logits_count(model, &batch), -1);
  EXPECT_STREQ(cloze_last_error(),
               "cloze_run does not run GroupBertForPreTraining, which predicts words; open a "
               "fine-tuned model");
  cloze_model_close(model);
}

TEST_P(RuntimeTest, FailsWithWords) {
  EXPECT_EQ(cloze_model_open("no/such/model.cloze"), nullptr);
  EXPECT_STREQ(cloze_last_error(),
               "no/such/model.cloze does not exist; give a packed model, a model's folder, or the "
               "prefix of a TensorFlow checkpoint");
  EXPECT_EQ(cloze_last_error_status(), 2);
  const int32_t ids[] = {2, 100};
  const int64_t lengths[] = {2};
  const cloze_batch batch{ids, nullptr, lengths, 1};
  float logits[4] = {};
  EXPECT_EQ(cloze_run(client_, &batch, logits), -1);
  EXPECT_STREQ(cloze_last_error(), "token id 100; the model has 0 to 96");
  const cloze_batch nothing{ids, nullptr, lengths, 0};
  EXPECT_EQ(cloze_run(client_, &nothing, logits), -1);
  EXPECT_STREQ(cloze_last_error(),
               "a batch of 0 sequences; give 1 to 1000000, with ids and lengths");
  EXPECT_EQ(cloze_run(nullptr, &batch, logits), -1);
  EXPECT_STREQ(cloze_last_error(), "cloze_run got NULL");
}

TEST(RuntimeLimit, AnInstructionSetIsOneOfTheMachine) {
  EXPECT_EQ(cloze_limit_instruction_set("avx9"), -1);
  EXPECT_NE(std::string(cloze_last_error())
                .find("instruction set avx9 is not available on this machine; it has avx2"),
            std::string::npos);
  EXPECT_EQ(cloze_limit_instruction_set(nullptr), -1);
  EXPECT_STREQ(cloze_last_error(), "cloze_limit_instruction_set got no name");
}

// Its weights lie as the kernels of the set in use read them.
TEST_P(RuntimeTest, AnOpenModelKeepsItsInstructionSet) {
  const std::string used = engine::instruction_set();
  EXPECT_EQ(cloze_limit_instruction_set(used.c_str()), 0) << cloze_last_error();
  const std::string other = used == "avx2" ? "avx512" : "avx2";
  const std::string message = "instruction set " + other +
                              " cannot be chosen while a model is open, which uses " + used +
                              "; call cloze_limit_instruction_set before cloze_model_open";
  EXPECT_EQ(cloze_limit_instruction_set(other.c_str()), -1);
  EXPECT_EQ(cloze_last_error(), message);
  EXPECT_EQ(engine::instruction_set(), used);
}

TEST_P(RuntimeTest, SurvivesNumbersThatCannotBe) {
  EXPECT_EQ(cloze_model_architecture(nullptr), nullptr);
  EXPECT_EQ(cloze_model_positions(nullptr), -1);
  EXPECT_EQ(cloze_model_vocabulary(nullptr), -1);
  const int32_t ids[] = {2};
  float logits[4] = {};
  for (const int64_t number : {int64_t{-1}, int64_t{65}, int64_t{1} << 40, INT64_MAX}) {
    const int64_t one = 1;
    const cloze_batch long_one{ids, nullptr, &number, 1};
    const cloze_batch many{ids, nullptr, &one, number == 65 ? 0 : number};
    for (const cloze_batch* batch : {&long_one, &many}) {
      EXPECT_EQ(cloze_logits_count(model_, batch), -1) << number;
      EXPECT_EQ(cloze_run(client_, batch, logits), -1) << number;
    }
  }
  EXPECT_EQ(cloze_client_open(model_, 100000), nullptr);
  EXPECT_STREQ(cloze_last_error(),
               "`threads` is 100000; choose 1 to 1024, or 0 for all processors");
}

TEST_P(RuntimeTest, TheExampleRuns) {
  const std::string output = (folder_.path() / "example.txt").string();
  const std::string command = std::string(CLOZE_EXAMPLE) + " " + file_ + " 2 7 9 3 > " + output;
  ASSERT_EQ(std::system(command.c_str()), 0);
  const std::string text = platform::read_file(output);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), logits_of(4)) << text;
}

// All that do not predict words.
std::vector<HeadKind> heads_that_run() {
  std::vector<HeadKind> kinds;
  for (const models::HeadTraits& head : models::all_heads()) {
    if (!head.predicts_words()) kinds.push_back(head.kind);
  }
  return kinds;
}

INSTANTIATE_TEST_SUITE_P(Heads, RuntimeTest, testing::ValuesIn(heads_that_run()));

}  // namespace
}  // namespace cloze
