// Losses and gradient norms of many small BERTs and GroupBERTs against torch in double precision
// (scripts/make_gradient_fixtures), with one instruction set per process, on the tested_device():
//
//   gradient_norms_test avx2 [flags of GoogleTest]      exit 77: this machine lacks it
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <memory>

#include "base/philox.h"
#include "data/packer.h"
#include "engine/instruction_set.h"
#include "formats/json.h"
#include "models/bert_fields.h"
#include "small_model.h"
#include "train/training_step.h"

namespace cloze::tests {
namespace {

constexpr int kLacking = 77;
constexpr uint64_t kIdStream = 1000, kLabelStream = 2000, kNextSentenceStream = 3000;
constexpr int32_t kEverySixth = 6;

struct Case {
  models::BertConfig model;
  uint64_t seed = 0;
  std::vector<int64_t> lengths;
  bool next_sentence = false;
  data::MicroBatchCapacity capacity;
  double mlm_loss = 0.0, nsp_loss = 0.0, gradient_norm = 0.0;
  std::vector<double> norms;  // of parameters in the order of their names
};

void set_groupbert(const formats::Json& json, models::BertConfig& model) {
  model.groupbert = true;
  model.groupbert_conv_bias = json.at("conv_bias").get<bool>();
  model.groupbert_conv_group_size = json.at("conv_group_size").get<int64_t>();
  model.groupbert_conv_kernel_size = json.at("conv_kernel_size").get<int64_t>();
  model.groupbert_ffn_output_groups = json.at("ffn_groups").get<int64_t>();
}

Case case_of(const formats::Json& json) {
  Case test{
      .model = {.vocab_size = json.at("vocab_size").get<int64_t>(),
                .hidden_size = json.at("hidden_size").get<int64_t>(),
                .num_hidden_layers = json.at("num_hidden_layers").get<int64_t>(),
                .num_attention_heads = json.at("num_attention_heads").get<int64_t>(),
                .intermediate_size = json.at("intermediate_size").get<int64_t>(),
                .max_position_embeddings = json.at("max_position_embeddings").get<int64_t>(),
                .hidden_act = models::activation_named(json.at("hidden_act").get<std::string>()),
                .hidden_dropout_prob = 0.0,
                .attention_probs_dropout_prob = 0.0,
                .layer_norm_eps = json.at("layer_norm_eps").get<float>()},
      .seed = json.at("seed").get<uint64_t>(),
      .lengths = json.at("lengths").get<std::vector<int64_t>>(),
      .next_sentence = json.at("next_sentence").get<bool>(),
      .capacity = {.tokens = json.at("capacity")[0].get<int64_t>(),
                   .sequences = json.at("capacity")[1].get<int64_t>(),
                   .predictions = json.at("capacity")[2].get<int64_t>()},
      .mlm_loss = json.at("mlm_loss").get<double>(),
      .nsp_loss = json.at("nsp_loss").get<double>(),
      .gradient_norm = json.at("gradient_norm").get<double>(),
      .norms = json.at("norms").get<std::vector<double>>()};
  if (json.contains("groupbert")) set_groupbert(json.at("groupbert"), test.model);
  test.model.validate();
  return test;
}

std::vector<Case> read_cases() {
  std::vector<Case> cases;
  for (const char* name : {"gradient_norms.json", "groupbert_gradient_norms.json"}) {
    const std::string path = std::string(CLOZE_SOURCE_DIR) + "/tests/fixtures/" + name;
    for (const formats::Json& json : formats::read_json_file(path)) cases.push_back(case_of(json));
  }
  return cases;
}

int32_t draw(PhiloxStream& stream, int64_t bound) {
  return static_cast<int32_t>(stream.next() % static_cast<uint64_t>(bound));
}

std::vector<data::Sample> samples_of(const Case& test) {
  std::vector<data::Sample> samples;
  PhiloxStream next_sentence(test.seed, kNextSentenceStream);
  for (size_t row = 0; row < test.lengths.size(); ++row) {
    PhiloxStream ids(test.seed, kIdStream + row);
    PhiloxStream labels(test.seed, kLabelStream + row);
    const auto length = static_cast<int32_t>(test.lengths[row]);
    data::Sample sample{.next_sentence_label = draw(next_sentence, 2)};
    if (!test.next_sentence) sample.next_sentence_label = -1;
    for (int32_t p = 0; p < length; ++p) {
      sample.input_ids.push_back(1 + draw(ids, test.model.vocab_size - 1));
      sample.token_type_ids.push_back(p >= length / 2 ? 1 : 0);
      const int32_t label = draw(labels, test.model.vocab_size);
      if (p % kEverySixth != 1) continue;
      sample.masked_positions.push_back(p);
      sample.masked_labels.push_back(label);
    }
    samples.push_back(std::move(sample));
  }
  return samples;
}

std::vector<std::string> sorted_parameters(const graph::Graph& graph) {
  std::vector<std::string> names;
  for (const graph::Value value : graph.variables(graph::VariableRole::kParameter)) {
    names.push_back(graph.info(value).name);
  }
  std::ranges::sort(names);
  return names;
}

void draw_parameters(engine::Session& session, uint64_t seed) {
  const std::vector<std::string> names = sorted_parameters(session.graph());
  for (size_t i = 0; i < names.size(); ++i) {
    PhiloxStream stream(seed, i);
    const Shape& shape = session.graph().type(*session.graph().find(names[i])).shape;
    const bool is_small = shape.rank() == 1 || shape[1] > 96;
    const bool is_norm = names[i].ends_with("Norm.weight") || names[i].ends_with("norm.weight");
    const double offset = is_norm ? 1.0 : 0.0;
    std::vector<float> values(static_cast<size_t>(shape.elements()));
    for (float& value : values) {
      const double unit = (stream.next() >> 8) * 0x1p-23 - 1.0;
      value = static_cast<float>(offset + unit * (is_small ? 0x1p-3 : 0x1p-2));
    }
    session.write<float>(names[i], values);
  }
}

double norm_of(std::span<const float> values) {
  double squares = 0.0;
  for (const double value : values) squares += value * value;
  return std::sqrt(squares);
}

// The number of successive sums on the way to a gradient.
double operators(const Case& test) {
  const double in_layer = test.model.groupbert ? 16.0 : 8.0;
  return 2.0 * (in_layer * static_cast<double>(test.model.num_hidden_layers) + 8.0);
}

// First-order rounding error, relative to what is summed up to a gradient: every value on the way
// is a sum of at most K rounded terms, and independent errors add like sqrt(K).
double tolerance_f32(const Case& test) {
  const models::BertConfig& m = test.model;
  const double sum_length = static_cast<double>(
      std::max({m.intermediate_size, m.hidden_size, m.vocab_size, std::ranges::max(test.lengths)}));
  return unit_roundoff(DType::kF32) * std::sqrt(sum_length) * operators(test);
}

// In half precision sums are kept in f32 and rounded when they are stored, so only these errors add
// up; in a norm over all parameters they are independent.
double tolerance_of(DType half, const Case& test) {
  return unit_roundoff(half) * std::sqrt(operators(test));
}

// By name. A bias has the summands of its weight, and they may cancel: the key bias shifts all
// scores of a row alike, so its exact gradient is 0.
std::map<std::string, double> scales_of(const std::vector<std::string>& names,
                                        const std::vector<double>& norms) {
  std::map<std::string, double> scales;
  for (size_t i = 0; i < names.size(); ++i) scales[names[i]] = norms[i];
  for (auto& [name, scale] : scales) {
    const auto weight = scales.find(name.substr(0, name.rfind('.')) + ".weight");
    if (name.ends_with(".bias") && weight != scales.end()) scale = std::max(scale, weight->second);
  }
  return scales;
}

void PrintTo(const Case& test, std::ostream* out) {
  *out << "seed " << test.seed << ", " << test.model.num_hidden_layers << " layers of "
       << test.model.num_attention_heads << " heads, hidden size " << test.model.hidden_size
       << ", sequences of";
  for (const int64_t length : test.lengths) *out << " " << length;
}

class GradientNorms : public testing::TestWithParam<Case> {
 protected:
  // The largest power of two with which nothing overflows, as a dynamic loss scale finds it: what
  // rounding among f16's subnormal numbers may then lose is 2^-40 of the largest gradient, far
  // below its unit of round-off.
  static double loss_scale_of_f16(train::TrainingStep& step, const data::StepBatch& batch) {
    for (double scale = 0x1p24; scale >= 1.0; scale /= 2.0) {
      step.set_loss_scale(scale);
      if (step.run(batch, 0, 0.0).is_finite()) return scale;
    }
    ADD_FAILURE() << "overflows with every scale";
    return 1.0;
  }

  // The step's forward and backward pass and its norm; the losses and the norm are compared.
  std::unique_ptr<train::TrainingStep> compute(DType dtype, double relative) const {
    const Case& test = GetParam();
    auto owned = std::make_unique<train::TrainingStep>(
        train::TrainingStepOptions{.model = test.model,
                                   .capacity = test.capacity,
                                   .compute_dtype = dtype,
                                   .compile = {.device = tested_device()}});
    train::TrainingStep& step = *owned;
    draw_parameters(step.session(), test.seed);
    const data::StepBatch batch = data::pack(samples_of(test), test.capacity);
    const double loss_scale = dtype == DType::kF16 ? loss_scale_of_f16(step, batch) : 1.0;
    step.set_loss_scale(loss_scale);
    const auto result = step.accumulate(batch, 0);
    step.update(0, 0.0);
    EXPECT_NEAR(result.losses[0].loss, test.mlm_loss, relative * test.mlm_loss);
    EXPECT_NEAR(result.losses[1].loss, test.nsp_loss, relative * test.nsp_loss);
    EXPECT_NEAR(step.session().read_scalar<float>("gradient_norm") / loss_scale, test.gradient_norm,
                relative * test.gradient_norm);
    return owned;
  }
};

TEST_P(GradientNorms, OfF32AreThoseOfTransformers) {
  const Case& test = GetParam();
  const double relative = tolerance_f32(test);
  const auto computed = compute(DType::kF32, relative);
  train::TrainingStep& step = *computed;
  const std::vector<std::string> names = sorted_parameters(step.session().graph());
  ASSERT_EQ(names.size(), test.norms.size());
  const std::map<std::string, double> scales = scales_of(names, test.norms);
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_NEAR(norm_of(step.session().read<float>("gradient." + names[i])), test.norms[i],
                relative * scales.at(names[i]))
        << names[i];
  }
}

TEST_P(GradientNorms, OfBFloat16AreNearThoseOfTransformers) {
  compute(DType::kBF16, tolerance_of(DType::kBF16, GetParam()));
}

TEST_P(GradientNorms, OfFloat16AreNearThoseOfTransformers) {
  compute(DType::kF16, tolerance_of(DType::kF16, GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Shapes, GradientNorms, testing::ValuesIn(read_cases()),
                         [](const auto& info) { return std::to_string(info.param.seed); });

}  // namespace
}  // namespace cloze::tests

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const std::string set = argc > 1 ? argv[1] : "";
  if (!set.empty() && !std::ranges::count(cloze::engine::instruction_sets(), set)) {
    std::cout << "this machine has no " << set << "\n";
    return cloze::tests::kLacking;
  }
  if (!set.empty()) cloze::engine::limit_instruction_set(set);
  return RUN_ALL_TESTS();
}
