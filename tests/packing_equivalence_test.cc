// "Packed = unpacked": one optimiser step on the same samples, dropout on, whatever the layout (a
// row for each sample, several in a row, all in one), whatever slots are left over, and whatever
// record format they were read from.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/philox.h"
#include "data/packer.h"
#include "data/records/record_dataset.h"
#include "record_formats.h"
#include "small_model.h"
#include "train/training_step.h"

namespace cloze::tests {
namespace {

constexpr int kSamples = 24;
constexpr RecordSizes kSizes{.sequence_length = 64, .max_predictions = 8};
constexpr double kLearningRate = 0.01;
const optim::OptimizerOptions kOptimizer{
    .name = "adamw", .epsilon = 1e-3, .weight_decay_rate = 0.01, .max_gradient_norm = 0};

const std::map<std::string, data::MicroBatchCapacity> kLayouts{
    {"padded", {.tokens = kSizes.sequence_length, .sequences = 1, .predictions = 8}},
    {"packed", {.tokens = 96, .sequences = 8, .predictions = 24}},
    {"whole", {.tokens = 24 * 30, .sequences = kSamples, .predictions = 24 * 6}}};

std::vector<data::Sample> random_samples() {
  PhiloxStream random(3, 0);
  const auto token = [&] { return 1 + static_cast<int32_t>(random.below(96)); };
  std::vector<data::Sample> samples;
  for (int i = 0; i < kSamples; ++i) {
    data::Sample sample{.next_sentence_label = static_cast<int32_t>(random.below(2))};
    const int32_t length = 6 + static_cast<int32_t>(random.below(24));
    for (int32_t t = 0; t < length; ++t) {
      sample.input_ids.push_back(token());
      sample.token_type_ids.push_back(t > length / 2 ? 1 : 0);
      if (t % 5 != 2) continue;
      sample.masked_positions.push_back(t);
      sample.masked_labels.push_back(token());
    }
    samples.push_back(std::move(sample));
  }
  return samples;
}

using Tensors = std::map<std::string, std::vector<float>>;  // by the parameter's name

struct Outcome {
  size_t num_micro_batches = 0;
  train::StepResult result;
  Tensors start, gradients, parameters;
};

Tensors values(engine::Session& session, const std::string& prefix) {
  Tensors tensors;
  for (const graph::Value value : session.graph().variables(graph::VariableRole::kParameter)) {
    const std::string& name = session.graph().info(value).name;
    session.read<float>(prefix + name, tensors[name]);
  }
  return tensors;
}

train::TrainingStepOptions step_options(const data::MicroBatchCapacity& capacity, DType dtype,
                                        models::LossBasis basis = models::LossBasis::kPerToken) {
  return {.model = small_model(),
          .head = {.loss_basis = basis},
          .capacity = capacity,
          .optimizer = kOptimizer,
          .compute_dtype = dtype,
          .seed = 11,
          .compile = {.device = tested_device(), .target = {.threads = 2}}};
}

Outcome outcome_of(train::TrainingStep& step, std::span<const data::Sample> samples,
                   const data::MicroBatchCapacity& capacity, DType dtype,
                   int64_t first_ordinal = 0) {
  step.session().initialize_parameters(5);
  const float loss_scale = dtype == DType::kF16 ? 0x1p12f : 1.0f;
  step.set_loss_scale(loss_scale);
  data::StepBatch batch = data::pack(samples, capacity);
  for (data::MicroBatch& micro_batch : batch.micro_batches) {
    for (int32_t& ordinal : micro_batch.sample_ids) ordinal += static_cast<int32_t>(first_ordinal);
  }
  Outcome outcome{.num_micro_batches = batch.micro_batches.size(),
                  .start = values(step.session(), "")};
  outcome.result = step.accumulate(batch, 0);
  outcome.gradients = values(step.session(), "gradient.");
  for (auto& [name, gradient] : outcome.gradients) {
    for (float& value : gradient) value /= loss_scale;
  }
  step.update(0, kLearningRate);
  outcome.parameters = values(step.session(), "");
  return outcome;
}

Outcome one_step(std::span<const data::Sample> samples, const data::MicroBatchCapacity& capacity,
                 DType dtype = DType::kF32, int64_t first_ordinal = 0,
                 models::LossBasis basis = models::LossBasis::kPerToken) {
  train::TrainingStep step(step_options(capacity, dtype, basis));
  return outcome_of(step, samples, capacity, dtype, first_ordinal);
}

// The micro-batch goes through all slots of the capacity, used or not.
Outcome one_step_in_full(std::span<const data::Sample> samples,
                         const data::MicroBatchCapacity& capacity, DType dtype) {
  const train::TrainingStepOptions options = step_options(capacity, dtype);
  train::TrainingStep step(train::training_graph(options), options);
  return outcome_of(step, samples, capacity, dtype);
}

double norm(const std::vector<float>& a) {
  double sum = 0.0;
  for (const float value : a) sum += static_cast<double>(value) * value;
  return std::sqrt(sum);
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> difference(a.size());
  std::transform(a.begin(), a.end(), b.begin(), difference.begin(), std::minus<>());
  return norm(difference);
}

// Another layout adds in another order. In f32 each of the sums in a row on the way to a gradient
// then differs by rounding, which over K terms grows like sqrt(K); K is at most the slots of the
// step, and there are about 2 (8 L + 8) sums in a row, for GroupBERT 2 (16 L + 8) (as in
// model_fixture_test.cc). In half precision every such sum is rounded once more when it is stored,
// and a sum near a tie may be rounded the other way: independent errors of one unit, which add like
// the root of their number.
double relative_tolerance(DType dtype) {
  const auto sums =
      static_cast<double>(2 * (sums_of_layer() * small_model().num_hidden_layers + 8));
  const double terms = static_cast<double>(kLayouts.at("whole").tokens);
  const double in_f32 = unit_roundoff(DType::kF32) * std::sqrt(terms) * sums;
  return dtype == DType::kF32 ? in_f32 : in_f32 + unit_roundoff(dtype) * std::sqrt(sums);
}

// The size of what is summed up to a gradient: a bias has the summands of its weight, and they may
// cancel (the exact gradient of the key bias is 0).
double gradient_scale(const Outcome& outcome, const std::string& name) {
  double scale = norm(outcome.gradients.at(name));
  if (name.ends_with(".bias")) {
    const auto weight = outcome.gradients.find(name.substr(0, name.size() - 4) + "weight");
    if (weight != outcome.gradients.end()) scale = std::max(scale, norm(weight->second));
  }
  return scale;
}

// The first update of AdamW is u = (1 - beta1) g / (sqrt(1 - beta2) |g| + epsilon), whose slope is
// at most (1 - beta1) / epsilon; the new weight is rounded once.
double parameter_tolerance(double gradient_tolerance, double parameter_norm) {
  return kLearningRate * (1.0 - kOptimizer.beta1) / kOptimizer.epsilon * gradient_tolerance +
         unit_roundoff(DType::kF32) * parameter_norm;
}

void expect_same_step(const Outcome& expected, const Outcome& actual, DType dtype) {
  const double tolerance = relative_tolerance(dtype);
  for (size_t i = 0; i < expected.result.losses.size(); ++i) {
    const train::LossValue& value = expected.result.losses[i];
    EXPECT_NEAR(actual.result.losses[i].loss, value.loss, tolerance * value.loss) << value.name;
    if (dtype == DType::kF32) {  // in halves two logits may tie
      EXPECT_EQ(actual.result.losses[i].accuracy, value.accuracy) << value.name;
    }
  }
  for (const auto& [name, gradient] : expected.gradients) {
    const double bound = tolerance * gradient_scale(expected, name);
    EXPECT_GT(bound, 0.0) << name;
    EXPECT_LE(distance(gradient, actual.gradients.at(name)), bound) << name;
    const std::vector<float>& parameter = expected.parameters.at(name);
    EXPECT_LE(distance(parameter, actual.parameters.at(name)),
              parameter_tolerance(bound, norm(parameter)))
        << name;
  }
}

bool same_content(const data::Sample& a, const data::Sample& b) {
  return a.input_ids == b.input_ids && a.token_type_ids == b.token_type_ids &&
         a.masked_positions == b.masked_positions && a.masked_labels == b.masked_labels &&
         a.next_sentence_label == b.next_sentence_label;
}

// What a file of this format holds, in the order of `samples`.
std::vector<data::Sample> read_back(std::span<const data::Sample> samples, RecordFormat format) {
  const std::filesystem::path path =
      testing::TempDir() + "packing_equivalence_test_" + std::string(name_of(format));
  write_records(path, samples, format, kSizes);
  const data::RecordDataset dataset(std::vector{path},
                                    {.shape = {.sequence_length = kSizes.sequence_length,
                                               .max_predictions = kSizes.max_predictions,
                                               .vocabulary_size = small_model().vocab_size}});
  EXPECT_EQ(dataset.size(), std::ssize(samples));
  std::vector<data::Sample> result;
  for (const data::Sample& sample : samples) {
    for (int64_t i = 0; i < dataset.size(); ++i) {
      data::Sample stored = dataset.sample(i, 0);
      if (same_content(sample, stored)) {
        result.push_back(std::move(stored));
        break;
      }
    }
  }
  return result;
}

class PackingEquivalence : public testing::TestWithParam<DType> {};

TEST_P(PackingEquivalence, TheLayoutDoesNotShow) {
  const auto samples = random_samples();
  const Outcome padded = one_step(samples, kLayouts.at("padded"), GetParam());
  const Outcome packed = one_step(samples, kLayouts.at("packed"), GetParam());
  const Outcome whole = one_step(samples, kLayouts.at("whole"), GetParam());
  EXPECT_EQ(padded.num_micro_batches, static_cast<size_t>(kSamples));
  EXPECT_GT(packed.num_micro_batches, 2u);
  EXPECT_LT(packed.num_micro_batches, padded.num_micro_batches);
  EXPECT_EQ(whole.num_micro_batches, 1u);
  expect_same_step(padded, packed, GetParam());
  expect_same_step(padded, whole, GetParam());
}

// One micro-batch, from a few slots to all of them.
TEST_P(PackingEquivalence, SlotsThatAreLeftOverDoNotShow) {
  const auto samples = random_samples();
  data::MicroBatchCapacity capacity{.sequences = kSamples};
  for (const data::Sample& sample : samples) {
    capacity.tokens += std::ssize(sample.input_ids);
    capacity.predictions += std::ssize(sample.masked_positions);
  }
  for (size_t count = 1; count <= samples.size(); ++count) {
    SCOPED_TRACE(count);
    const std::span some = std::span(samples).first(count);
    expect_same_step(one_step_in_full(some, capacity, GetParam()),
                     one_step(some, capacity, GetParam()), GetParam());
  }
}

// What the loss per sequence means: the mean of what each sequence alone has as its mean.
Outcome mean_of_sequences(std::span<const data::Sample> samples, DType dtype) {
  Outcome mean;
  const auto share = 1.0 / static_cast<double>(samples.size());
  std::map<std::string, std::vector<double>> gradients;
  for (size_t i = 0; i < samples.size(); ++i) {
    const Outcome one = one_step(samples.subspan(i, 1), kLayouts.at("padded"), dtype, i);
    if (i == 0) mean = one;
    for (size_t term = 0; i > 0 && term < one.result.losses.size(); ++term) {
      mean.result.losses[term].loss += one.result.losses[term].loss;
    }
    for (const auto& [name, gradient] : one.gradients) {
      gradients[name].resize(gradient.size());
      for (size_t e = 0; e < gradient.size(); ++e) gradients[name][e] += share * gradient[e];
    }
  }
  for (train::LossValue& value : mean.result.losses) value.loss *= share;
  for (const auto& [name, sum] : gradients) {
    mean.gradients[name].assign(sum.begin(), sum.end());
  }
  return mean;
}

TEST_P(PackingEquivalence, TheLossPerSequenceIsTheMeanOfSequencesInAnyLayout) {
  const auto samples = random_samples();
  const Outcome expected = mean_of_sequences(samples, GetParam());
  const double tolerance = relative_tolerance(GetParam());
  const double per_token =
      one_step(samples, kLayouts.at("packed"), GetParam()).result.losses[0].loss;
  const double mlm = expected.result.losses[0].loss;
  if (GetParam() == DType::kF32) {  // the others' rounding hides it
    EXPECT_GT(std::abs(mlm - per_token), tolerance * mlm) << "the bound tells them apart";
  }
  for (const auto& [layout, capacity] : kLayouts) {
    SCOPED_TRACE(layout);
    const Outcome actual =
        one_step(samples, capacity, GetParam(), 0, models::LossBasis::kPerSequence);
    for (size_t term = 0; term < 2; ++term) {
      const double loss = expected.result.losses[term].loss;
      EXPECT_NEAR(actual.result.losses[term].loss, loss, tolerance * loss);
    }
    for (const auto& [name, gradient] : expected.gradients) {
      EXPECT_LE(distance(gradient, actual.gradients.at(name)),
                tolerance * gradient_scale(expected, name))
          << name;
    }
  }
}

// The bounds see a wrong dropout mask: samples that are numbered differently in the step. (Not in
// the biases: their gradients are sums over everything, and those of the key biases are nothing but
// rounding.)
TEST_P(PackingEquivalence, AnotherDropoutMaskShows) {
  const auto samples = random_samples();
  const Outcome right = one_step(samples, kLayouts.at("packed"), GetParam());
  const Outcome other = one_step(samples, kLayouts.at("packed"), GetParam(), 1);
  for (const auto& [name, gradient] : right.gradients) {
    if (!name.ends_with(".weight")) continue;
    EXPECT_GT(distance(gradient, other.gradients.at(name)),
              relative_tolerance(GetParam()) * gradient_scale(right, name))
        << name;
  }
}

TEST_P(PackingEquivalence, TheRecordFormatDoesNotShow) {
  const auto samples = random_samples();
  const Outcome expected = one_step(samples, kLayouts.at("padded"), GetParam());
  for (const RecordFormat format : kAllRecordFormats) {
    SCOPED_TRACE(name_of(format));
    const auto stored = read_back(samples, format);
    ASSERT_EQ(stored.size(), samples.size()) << "samples that the file does not hold";
    for (const auto& [layout, capacity] : kLayouts) {
      SCOPED_TRACE(layout);
      expect_same_step(expected, one_step(stored, capacity, GetParam()), GetParam());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, PackingEquivalence,
                         testing::Values(DType::kF32, DType::kBF16, DType::kF16),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace cloze::tests
