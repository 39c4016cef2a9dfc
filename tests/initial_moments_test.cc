// The optimiser's moments of a TensorFlow checkpoint are taken as ours: the first update from them
// is what its formula gives in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "base/bfloat16.h"
#include "base/error.h"
#include "base/float16.h"
#include "data/loader.h"
#include "train/small_training_test.h"

namespace cloze::tests {
namespace {

namespace fs = std::filesystem;
using train::InitOptimizer;
using Values = std::vector<float>;

// Made by scripts/make_tf_checkpoint_fixtures: Adam's moments of every tensor, global_step 1234.
const fs::path kCheckpoint =
    fs::path(CLOZE_SOURCE_DIR) / "tests/fixtures/tf_checkpoint/google/bert_model.ckpt";
constexpr int64_t kGlobalStep = 1234;

class InitialMoments : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { fs::remove_all(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  train::TrainingOptions options(int64_t num_steps) const {
    train::TrainingOptions options = train::small_training(folder_);
    options.step.optimizer = {
        .name = GetParam(), .weight_decay_rate = 0.01, .max_gradient_norm = 0.0};
    options.num_steps = num_steps;
    options.init_checkpoint = kCheckpoint;
    options.init_optimizer = InitOptimizer::kMomentsAndStep;
    return options;
  }

  std::string refusal_of(const train::TrainingOptions& options) {
    try {
      train::Training(options, [](const std::string&) {});
    } catch (const UserError& error) {
      return error.what();
    }
    return "accepted";
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / "cloze_initial_moments_test";
};

struct Parameter {
  std::string name, gradient;
  graph::ParameterTraits traits;
  Values weight, m, v;
};

std::vector<Parameter> parameters_of(engine::Session& session) {
  std::vector<Parameter> parameters;
  const graph::Graph& graph = session.graph();
  for (const graph::Value gradient : graph.variables(graph::VariableRole::kGradient)) {
    const graph::ValueInfo& info = graph.info(graph.info(gradient).master);
    parameters.push_back({.name = info.name,
                          .gradient = graph.info(gradient).name,
                          .traits = info.traits,
                          .weight = session.read<float>(info.name),
                          .m = session.read<float>("optimizer.m." + info.name),
                          .v = session.read<float>("optimizer.v." + info.name)});
  }
  return parameters;
}

// Of the batch that the run meets after `step` updates, with its weights.
std::vector<Values> gradients_of(const train::TrainingOptions& options,
                                 const std::vector<Parameter>& parameters, int64_t step) {
  train::TrainingStep twin(options.step);
  for (const Parameter& parameter : parameters) {
    twin.session().write<float>(parameter.name, parameter.weight);
  }
  twin.accumulate(data::load_step({.dataset = options.dataset,
                                   .global_batch_size = options.global_batch_size,
                                   .capacity = options.step.capacity,
                                   .seed = options.step.seed},
                                  step),
                  step);
  std::vector<Values> gradients;
  for (const Parameter& parameter : parameters) {
    gradients.push_back(twin.session().read<float>(parameter.gradient));
  }
  return gradients;
}

double norm_of(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

// Weights after one update without bias correction: Google's optimization.py; LAMB as You et al.
std::vector<double> updated(const Parameter& parameter, const Values& gradient,
                            const train::TrainingOptions& options) {
  const optim::OptimizerOptions& o = options.step.optimizer;
  std::vector<double> weight(parameter.weight.begin(), parameter.weight.end());
  std::vector<double> change;
  for (size_t i = 0; i < weight.size(); ++i) {
    const double g = gradient[i];
    const double m = o.beta1 * parameter.m[i] + (1.0 - o.beta1) * g;
    const double v = o.beta2 * parameter.v[i] + (1.0 - o.beta2) * g * g;
    const double decay = parameter.traits.decays ? o.weight_decay_rate * weight[i] : 0.0;
    change.push_back(m / (std::sqrt(v) + o.epsilon) + decay);
  }
  double ratio = 1.0;
  if (o.name == "lamb" && parameter.traits.adapts) ratio = norm_of(weight) / norm_of(change);
  for (size_t i = 0; i < weight.size(); ++i) {
    weight[i] -= options.schedule.base_learning_rate * ratio * change[i];
  }
  return weight;
}

TEST_P(InitialMoments, TheFirstUpdateFromThemIsThatOfTheFormula) {
  const train::TrainingOptions run = options(kGlobalStep + 1);
  std::vector<std::string> notices;
  train::Training training(run, [&](const std::string& line) { notices.push_back(line); });
  EXPECT_EQ(training.first_step(), kGlobalStep);
  const std::vector<Parameter> before = parameters_of(training.session());
  ASSERT_GT(before.size(), 40u);
  EXPECT_EQ(notices.at(1),
            "  " + std::to_string(2 * before.size()) + " moments of its optimiser are used");
  const std::vector<Values> gradients = gradients_of(run, before, kGlobalStep);
  training.run({});
  const std::vector<Parameter> after = parameters_of(training.session());
  for (size_t p = 0; p < before.size(); ++p) {
    const std::vector<double> expected = updated(before[p], gradients[p], run);
    for (size_t i = 0; i < expected.size(); ++i) {
      // A dozen roundings of a change that is smaller than the weight or about 1.
      const double bound = 12.0 * std::numeric_limits<float>::epsilon() *
                           (std::abs(before[p].weight[i]) + std::abs(expected[i]) + 1e-2);
      ASSERT_NEAR(after[p].weight[i], expected[i], bound) << before[p].name << " " << i;
    }
  }
}

TEST_P(InitialMoments, WithoutTheStepCountTheRunBeginsAtZero) {
  train::TrainingOptions run = options(1);
  run.init_optimizer = InitOptimizer::kMoments;
  train::Training training(run, [](const std::string&) {});
  EXPECT_EQ(training.first_step(), 0);
  EXPECT_NE(parameters_of(training.session()).front().m.front(), 0.0f);
}

// The file's have so few digits that no dtype rounds them.
TEST_P(InitialMoments, AreTakenInHalfPrecision) {
  const auto read = [&](DType first_moment) {
    train::TrainingOptions run = options(kGlobalStep + 1);
    run.step.optimizer.first_moment = first_moment;
    train::Training training(run, [](const std::string&) {});
    engine::Session& session = training.session();
    const graph::Graph& graph = session.graph();
    std::vector<Values> moments;
    for (const graph::Value state : graph.variables(graph::VariableRole::kOptimizerState)) {
      const std::string& name = graph.info(state).name;
      const size_t elements = static_cast<size_t>(graph.type(state).shape.elements());
      Values values(elements);
      if (graph.type(state).dtype == DType::kF32) {
        values = session.read<float>(name);
      } else if (first_moment == DType::kBF16) {
        std::ranges::transform(session.read<bfloat16>(name), values.begin(),
                               [](bfloat16 m) { return static_cast<float>(m); });
      } else {
        std::ranges::transform(session.read<float16>(name), values.begin(), [](float16 m) {
          return static_cast<float>(static_cast<float>(m) / optim::kFloat16MomentScale);
        });
      }
      moments.push_back(std::move(values));
    }
    return moments;
  };
  const std::vector<Values> exact = read(DType::kF32);
  EXPECT_TRUE(read(DType::kBF16) == exact);
  EXPECT_TRUE(read(DType::kF16) == exact);
}

TEST_P(InitialMoments, RefusalsSayWhatToDo) {
  EXPECT_EQ(refusal_of(options(kGlobalStep)),
            kCheckpoint.string() +
                " was saved after step 1234, but this run ends after step 1234; raise "
                "num_train_steps, or choose init_optimizer moments");
  train::TrainingOptions without = options(1);
  without.init_checkpoint = kCheckpoint.parent_path().parent_path() / "model.safetensors";
  EXPECT_EQ(refusal_of(without),
            "init_optimizer asks for moments, but " + without.init_checkpoint.string() +
                " holds none that optimizer " + GetParam() + " uses; choose init_optimizer fresh");
}

INSTANTIATE_TEST_SUITE_P(Optimizers, InitialMoments, testing::Values("adamw", "lamb"));

}  // namespace
}  // namespace cloze::tests
