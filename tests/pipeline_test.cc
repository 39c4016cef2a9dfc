// One run in stages: ranks that each have a part of the model train the weights of one rank alone.
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "comm/loopback.h"
#include "small_model.h"
#include "trained_weights.h"

namespace cloze::tests {
namespace {

using Tensors = std::map<std::string, std::vector<float>>;

// Several micro-batches in a step.
const data::MicroBatchCapacity kCapacity{.tokens = 40, .sequences = 3, .predictions = 12};

Tensors parameters_of(engine::Session& session) {
  Tensors tensors;
  for (const graph::Value value : session.graph().variables(graph::VariableRole::kParameter)) {
    const std::string& name = session.graph().info(value).name;
    tensors[name] = session.read<float>(name);
  }
  return tensors;
}

// What a rank has at the end.
struct RankResult {
  Tensors start, parameters;
  std::vector<double> losses, norms;
};

constexpr train::PipelineSchedule kSchedules[] = {train::PipelineSchedule::kGrouped,
                                                  train::PipelineSchedule::kInterleaved,
                                                  train::PipelineSchedule::kSequential};

class Pipeline : public testing::TestWithParam<DType> {
 protected:
  using Change = std::function<void(train::TrainingStepOptions&)>;
  // The number of ranks, and how else they differ from one rank alone.
  struct Layout {
    std::string name;
    int ranks;
    Change change;
  };

  static models::BertConfig model() {
    models::BertConfig model = small_model();
    model.num_hidden_layers = 3;
    return model;
  }
  static train::TrainingStepOptions options_of(comm::Communicator& ranks) {
    return rank_options(model(), kCapacity, GetParam(), ranks);
  }
  static RankResult train(const train::TrainingStepOptions& options) {
    train::TrainingStep step(options);
    if (GetParam() == DType::kF16) step.set_loss_scale(kLossScaleOfF16);
    step.session().initialize_parameters(5);
    RankResult result{.start = parameters_of(step.session())};
    for (int64_t i = 0; i < kStepsOfRanks; ++i) {
      const auto batch = data::pack(random_samples(100 + i, kSamplesOfStep), kCapacity);
      const train::StepResult done = step.run(batch, i, learning_rate(options.optimizer.name));
      result.losses.push_back(done.loss());
      result.norms.push_back(done.gradient_norm);
    }
    result.parameters = parameters_of(step.session());
    return result;
  }
  static Trained flat(const RankResult& result) {
    Trained trained{.losses = result.losses, .norms = result.norms};
    for (const auto& [name, values] : result.start) {
      trained.start.insert(trained.start.end(), values.begin(), values.end());
      const std::vector<float>& last = result.parameters.at(name);
      trained.parameters.insert(trained.parameters.end(), last.begin(), last.end());
    }
    return trained;
  }
  static Trained train_alone(const Change& change = {}) {
    train::TrainingStepOptions options = options_of(comm::alone());
    if (change) change(options);
    return flat(train(options));
  }
  // The model that the ranks hold together: ranks that share a tensor have equal values, and all
  // know the same losses and norms.
  static Trained train_on(int size, const Change& change) {
    std::vector<RankResult> results(static_cast<size_t>(size));
    comm::run_loopback(size, [&](comm::Communicator& ranks) {
      train::TrainingStepOptions options = options_of(ranks);
      change(options);
      results[static_cast<size_t>(ranks.rank())] = train(options);
    });
    RankResult all = results.front();
    for (const RankResult& one : results) {
      EXPECT_EQ(one.losses, all.losses);
      EXPECT_EQ(one.norms, all.norms);
      all.start.insert(one.start.begin(), one.start.end());
      all.parameters.insert(one.parameters.begin(), one.parameters.end());
      for (const auto& [name, values] : one.parameters) {
        EXPECT_EQ(values, all.parameters.at(name)) << name;
      }
    }
    return flat(all);
  }
  static Change stages(int count, train::PipelineSchedule schedule) {
    return [=](train::TrainingStepOptions& options) {
      options.stages = passes::even_stages(count, options.model.num_hidden_layers);
      options.schedule = schedule;
    };
  }
  static Change both(const Change& one, const Change& other) {
    return [=](train::TrainingStepOptions& options) {
      one(options);
      other(options);
    };
  }
  static Change parts(passes::Stages stages) {
    return [=](train::TrainingStepOptions& options) { options.stages = stages; };
  }
  // In how many ways ranks share one run.
  static std::vector<Layout> layouts() {
    const Change whole = [](train::TrainingStepOptions&) {};
    const Change shards = [](train::TrainingStepOptions& options) { options.shards_states = true; };
    const Change in_file = [](train::TrainingStepOptions& options) {
      options.compile.optimizer_state_folder = testing::TempDir();
    };
    const Change comes_back = parts({.layers = {1, 2, 0}, .ranks = {0, 1, 0}});
    std::vector<Layout> layouts{
        {"states in a file", 1, in_file},
        {"2 ranks", 2, whole},
        {"3 ranks", 3, whole},
        {"4 ranks", 4, whole},
        {"2 ranks, sharded", 2, shards},
        {"4 ranks, sharded", 4, shards},
        {"3 ranks, sharded, states in a file", 3, both(shards, in_file)},
        {"2 stages that come back", 2, comes_back},
        {"2 stages that come back, 2 replicas", 4, comes_back},
        {"2 stages that begin on the second", 2, parts({.layers = {1, 2}, .ranks = {1, 0}})}};
    for (const train::PipelineSchedule schedule : kSchedules) {
      const std::string name = "schedule " + std::to_string(static_cast<int>(schedule)) + ": ";
      const Change two = stages(2, schedule);
      layouts.push_back({name + "2 stages", 2, two});
      layouts.push_back({name + "5 stages", 5, stages(5, schedule)});
      layouts.push_back({name + "2 stages, 2 replicas", 4, two});
      layouts.push_back({name + "2 stages, 3 replicas", 6, two});
      layouts.push_back({name + "2 stages, 2 replicas, sharded", 4, both(two, shards)});
      layouts.push_back({name + "2 stages, states in a file", 2, both(two, in_file)});
    }
    return layouts;
  }
  // For weights whose sums had another order, or that were rounded differently.
  static double bound() {
    return GetParam() == DType::kF32
               ? reordering_bound(kStepsOfRanks)
               : rounding_gap(train::training_graph(options_of(comm::alone())).graph, GetParam());
  }
};

TEST_P(Pipeline, HasTheWeightsOfOneInEachSchedule) {
  const Trained alone = train_alone();
  for (const int size : {2, 3}) {
    Trained first;
    for (const train::PipelineSchedule schedule : kSchedules) {
      const Trained trained = train_on(size, stages(size, schedule));
      EXPECT_LE(relative_gap(trained, alone), bound()) << size << " stages";
      // Each part adds up its gradients in the order of the micro-batches.
      if (first.parameters.empty()) first = trained;
      EXPECT_EQ(trained.parameters, first.parameters) << size << " stages";
      EXPECT_EQ(trained.losses, first.losses) << size << " stages";
    }
  }
}

// The embeddings and the heads on one rank: nothing is added up in another order.
TEST_P(Pipeline, ThatComesBackToTheFirstRankHasTheBytesOfOne) {
  const Trained alone = train_alone();
  for (const bool is_sequential : {true, false}) {
    const Trained trained = train_on(2, [&](train::TrainingStepOptions& options) {
      options.stages = {.layers = {1, 2, 0}, .ranks = {0, 1, 0}};
      if (is_sequential) options.schedule = train::PipelineSchedule::kSequential;
    });
    EXPECT_LE(relative_gap(trained, alone), bound());
    if (is_sequential) {
      EXPECT_EQ(trained.parameters, alone.parameters);
    }
  }
}

TEST_P(Pipeline, AdaptsLikeOne) {
  const Trained alone = train_alone(adapt_as_popart);
  for (const bool is_sharded : {false, true}) {
    const Trained trained = train_on(is_sharded ? 4 : 2, [&](train::TrainingStepOptions& options) {
      adapt_as_popart(options);
      stages(2, train::PipelineSchedule::kInterleaved)(options);
      options.shards_states = is_sharded;
    });
    EXPECT_LE(relative_gap(trained, alone), bound()) << (is_sharded ? "sharded" : "whole");
  }
}

TEST_P(Pipeline, MayHaveStagesWithoutLayers) {
  const Trained trained = train_on(5, stages(5, train::PipelineSchedule::kInterleaved));
  EXPECT_LE(relative_gap(trained, train_alone()), bound());
}

TEST_P(Pipeline, ComputesActivationsAgain) {
  const auto change = stages(2, train::PipelineSchedule::kInterleaved);
  const Trained again = train_on(2, [&](train::TrainingStepOptions& options) {
    change(options);
    options.recompute = true;
  });
  EXPECT_EQ(again.parameters, train_on(2, change).parameters);
}

// The norm that all are clipped by counts every gradient once, the tied one too.
TEST_P(Pipeline, ClipsLikeOne) {
  const Change clips = [](train::TrainingStepOptions& options) {
    options.optimizer = optimizer_options("momentum");  // LAMB would not show a wrong norm
    options.optimizer.max_gradient_norm = 0.05;
  };
  const Trained alone = train_alone(clips);
  const Trained trained = train_on(2, [&](train::TrainingStepOptions& options) {
    clips(options);
    stages(2, train::PipelineSchedule::kInterleaved)(options);
  });
  EXPECT_LE(norm_of_difference(trained.parameters, alone.parameters),
            bound() * norm_of_difference(alone.start, alone.parameters));
}

// Draws for rounding weights are numbered over the whole model.
TEST_P(Pipeline, RoundsWeightsLikeOne) {
  const Change rounds = [](train::TrainingStepOptions& options) {
    options.optimizer.has_bf16_weights = true;
    options.stages = {.layers = {1, 2, 0}, .ranks = {0, 1, 0}};
    options.schedule = train::PipelineSchedule::kSequential;
  };
  EXPECT_EQ(train_on(2, rounds).parameters, train_alone(rounds).parameters);
}

TEST_P(Pipeline, EachLayoutHasTheWeightsOfOne) {
  if (kIsSanitized && GetParam() != DType::kF32) GTEST_SKIP() << "f32 shows what a sanitizer finds";
  const Trained alone = train_alone();
  for (const Layout& layout : layouts()) {
    EXPECT_LE(relative_gap(train_on(layout.ranks, layout.change), alone), bound()) << layout.name;
  }
}

// Losses and norms of all steps too. With clipping, so that the norm matters.
TEST_P(Pipeline, EachLayoutWithReproducibleSumsHasTheBytesOfOne) {
  if (kIsSanitized && GetParam() != DType::kF32) GTEST_SKIP() << "f32 shows what a sanitizer finds";
  const Change reproduces = [](train::TrainingStepOptions& options) {
    options.reproducible_sums = true;
    options.optimizer.max_gradient_norm = 0.05;
  };
  const Trained alone = train_alone(reproduces);
  EXPECT_LE(relative_gap(alone, train_alone([&](train::TrainingStepOptions& options) {
                           reproduces(options);
                           options.reproducible_sums = false;
                         })),
            bound());
  for (const Layout& layout : layouts()) {
    const Trained trained = train_on(layout.ranks, both(layout.change, reproduces));
    EXPECT_EQ(trained.parameters, alone.parameters) << layout.name;
    EXPECT_EQ(trained.losses, alone.losses) << layout.name;
    EXPECT_EQ(trained.norms, alone.norms) << layout.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, Pipeline, testing::Values(DType::kF32, DType::kBF16, DType::kF16),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace cloze::tests
