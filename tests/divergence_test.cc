// Training that produces non-finite numbers: none of it is applied or saved, earlier checkpoints
// stay, and the message names where it began.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>

#include "base/error.h"
#include "data/loader.h"
#include "engine/change_values_test.h"
#include "formats/safetensors.h"
#include "platform/files/atomic_file.h"
#include "platform/files/file.h"
#include "small_run.h"
#include "train/training.h"

namespace cloze::tests {
namespace {

namespace fs = std::filesystem;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr const char* kQuery = "bert.encoder.layer.1.attention.self.query.weight";

void ignore(const std::string&) {}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class Divergence : public testing::TestWithParam<DType> {
 protected:
  void SetUp() override { fs::remove_all(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  train::TrainingOptions options(int64_t num_steps = 6) const {
    train::TrainingOptions run = small_run(GetParam(), num_steps, folder_ / "run");
    run.step.model.num_hidden_layers = 3;
    run.step.optimizer = {.name = "adamw", .max_gradient_norm = 0};
    run.schedule = {.base_learning_rate = 0.001, .warmup_steps = 1, .total_steps = 6};
    run.steps_per_checkpoint = 1;
    run.max_to_keep = 1;
    return run;
  }

  // Two good steps with their checkpoint; then what `change` does to the third.
  train::TrainingOptions resumed() const {
    train::Training(options(2), ignore).run({});
    train::TrainingOptions run = options();
    run.restore_dir = run.save_path;
    return run;
  }

  std::string saved() const {
    return platform::read_file(folder_ / "run" / "checkpoint-2" / "model.safetensors") +
           platform::read_file(folder_ / "run" / "checkpoint-2" / "optimizer.safetensors");
  }

  // Returns the message; checks that the run stopped there and that earlier checkpoints are
  // unchanged.
  std::string message_of(const std::function<void(engine::Session&)>& change,
                         const train::TrainingOptions& run) const {
    const std::string before = saved();
    train::Training training(run, ignore);
    change(training.session());
    std::string message;
    try {
      training.run({});
    } catch (const train::DivergenceError& error) {
      message = error.what();
    }
    EXPECT_EQ(train::checkpoint_steps(run.save_path), std::vector<int64_t>{2});
    EXPECT_EQ(saved(), before);
    EXPECT_TRUE(contains(message, "The newest checkpoint is ")) << message;
    return message;
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / "cloze_divergence_test";
};

std::function<void(engine::Session&)> set(const std::string& name, float value,
                                          size_t element = 0) {
  return [=](engine::Session& session) {
    engine::change_values<float>(session, name,
                                 [&](std::span<float> values) { values[element] = value; });
  };
}

std::function<void(engine::Session&)> fill_alternating(const std::string& name, float value) {
  return [=](engine::Session& session) {
    engine::change_values<float>(session, name, [&](std::span<float> values) {
      for (float sign = 1.0f; float& one : values) one = (sign = -sign) * value;
    });
  };
}

// Gives the two next-sentence classes opposite weights, so that their gradients do not cancel.
void set_apart(engine::Session& session, float size) {
  engine::change_values<float>(session, "cls.seq_relationship.weight",
                               [&](std::span<float> weights) {
                                 for (size_t i = 0; i < weights.size(); ++i) {
                                   weights[i] = i < weights.size() / 2 ? size : -size;
                                 }
                               });
}

TEST_P(Divergence, NamesAWeightThatWasNotFiniteBefore) {
  const train::TrainingOptions run = resumed();
  for (const std::string& name :
       {std::string("bert.embeddings.LayerNorm.bias"), std::string(kQuery),
        std::string("bert.encoder.layer.2.output.dense.bias"),
        std::string("bert.pooler.dense.weight"), std::string("cls.seq_relationship.weight")}) {
    for (const float nan : {kNaN, -kNaN}) {
      const std::string message = message_of(set(name, nan, 1), run);
      EXPECT_TRUE(contains(message, "step 3 is not finite: loss nan, gradient norm nan"))
          << message;
      EXPECT_TRUE(contains(
          message, "The problem was there before the step, in " + name + " (element 1 is nan)"))
          << message;
    }
  }
}

// Weights that are finite, and products or sums of squares that are not.
TEST_P(Divergence, NamesTheOperatorWhereItBegan) {
  const train::TrainingOptions run = resumed();
  struct Place {
    std::string weight, node, reads;
  };
  const Place places[] = {{kQuery, "bert.encoder.layer.1.attention.self.query.linear", kQuery},
                          {"bert.encoder.layer.0.intermediate.dense.weight",
                           "bert.encoder.layer.0.intermediate.dense.linear",
                           "bert.encoder.layer.0.intermediate.dense.weight"},
                          {"bert.encoder.layer.2.output.dense.weight",
                           "bert.encoder.layer.2.output.dropout_add_layer_norm",
                           "bert.encoder.layer.2.output.LayerNorm.weight"},
                          {"bert.embeddings.word_embeddings.weight", "bert.embeddings.layer_norm",
                           "bert.embeddings.LayerNorm.weight"}};
  for (const Place& place : places) {
    const std::string message = message_of(fill_alternating(place.weight, 3e38f), run);
    EXPECT_TRUE(contains(
        message, "nothing was updated. It began in " + place.node + ", with " + place.reads))
        << place.weight << ": " << message;
  }
}

// The loss is finite, and its gradient becomes infinite in the middle of the backward pass: the
// attention of layer 2 normalises a small input, which multiplies a large gradient.
TEST_P(Divergence, NamesTheOperatorOfAGradient) {
  const train::TrainingOptions run = resumed();
  const auto change = [](engine::Session& session) {
    fill_alternating("bert.encoder.layer.1.output.LayerNorm.weight", 1e-6f)(session);
    for (const char* zeros : {"bert.encoder.layer.1.output.LayerNorm.bias",
                              "bert.encoder.layer.2.attention.output.dense.weight",
                              "bert.encoder.layer.2.attention.output.dense.bias"}) {
      fill_alternating(zeros, 0.0f)(session);
    }
    set_apart(session, 1e37f);
  };
  const std::string message = message_of(change, run);
  EXPECT_FALSE(contains(message, "loss inf") || contains(message, "loss nan")) << message;
  EXPECT_TRUE(contains(message,
                       "It began in bert.encoder.layer.2.attention.output.dropout_add_layer_"
                       "norm"))
      << message;
}

// NaN in f32 and in bf16.
void poison_intermediates(engine::Session& session) {
  for (int32_t index = 0; index < session.graph().num_values(); ++index) {
    if (session.graph().info({index}).kind != graph::ValueKind::kIntermediate) continue;
    const std::vector<std::byte> bytes(static_cast<size_t>(session.graph().type({index}).bytes()),
                                       std::byte{0xff});
    session.executor().write({index}, bytes);
  }
}

// Old memory contents and padding are not mistaken for an origin.
TEST_P(Divergence, AFiniteStepNamesNothing) {
  const train::TrainingOptions run = options();
  train::TrainingStep step(run.step);
  step.session().initialize_parameters(1);
  data::Loader loader(
      {.dataset = run.dataset, .global_batch_size = 7, .capacity = run.step.capacity, .seed = 1});
  for (int64_t index = 0; index < 3; ++index) {
    const data::StepBatch batch = loader.next();
    ASSERT_TRUE(step.run(batch, index, 0.001).is_finite());
    poison_intermediates(step.session());
    EXPECT_EQ(train::origin_of(step, batch, index),
              "The step is finite when it is computed again; the machine may be faulty");
  }
}

// The gradient's norm is finite, only a loss is not.
TEST_P(Divergence, AnInfiniteLossAloneUpdatesNothing) {
  train::TrainingOptions run = options();
  train::TrainingStep step(run.step);
  step.session().initialize_parameters(1);
  data::StepBatch batch = data::Loader({.dataset = run.dataset,
                                        .global_batch_size = 8,
                                        .capacity = run.step.capacity,
                                        .seed = 1})
                              .next();
  const auto weights = [&] { return step.session().read<float>(kQuery); };
  const std::vector<float> before = weights();
  EXPECT_TRUE(step.run(batch, 0, 0.01).is_finite());
  const std::vector<float> after = weights();
  EXPECT_NE(after, before);

  // As the loss of the next sentence overflows when [CLS]'s logits are far apart: its gradient,
  // a difference of probabilities, stays within 1.
  engine::change_values<float>(step.session(), "cls.seq_relationship.weight",
                               [](std::span<float> values) { std::ranges::fill(values, 0.0f); });
  const std::vector<float> bias = {3.3e38f, -3.3e38f};
  step.session().write<float>("cls.seq_relationship.bias", bias);
  const train::StepResult result = step.run(batch, 1, 0.01);
  EXPECT_FALSE(std::isfinite(result.loss()));
  EXPECT_TRUE(std::isfinite(result.gradient_norm));
  EXPECT_FALSE(result.is_finite());
  EXPECT_EQ(weights(), after);
  EXPECT_TRUE(contains(train::origin_of(step, batch, 1), ": nsp_loss (element 0 is inf)"))
      << train::origin_of(step, batch, 1);
}

// A moment that has overflowed makes its weight infinite, or keeps it still for ever.
TEST_P(Divergence, AnUpdateThatOverflowsIsNotSaved) {
  const train::TrainingOptions run = resumed();
  const std::string v = std::string("optimizer.v.") + kQuery;
  const std::string moment = message_of(set(v, kInfinity, 5), run);
  EXPECT_TRUE(contains(moment, "the update of step 3 (gradient norm ")) << moment;
  EXPECT_TRUE(contains(moment, ") produced numbers that are not finite in " + v +
                                   " (element 5 is inf); "
                                   "it was not saved."))
      << moment;
}

// The parameter with the largest gradient in the step after two, as `change` leaves it.
std::string largest_gradient(const train::TrainingOptions& run,
                             const std::function<void(engine::Session&)>& change) {
  train::Training training(run, ignore);
  train::TrainingStep step(run.step);
  engine::Session& session = step.session();
  std::string largest;
  double most = -1.0;
  for (const graph::Value value : session.graph().variables(graph::VariableRole::kParameter)) {
    const std::string& name = session.graph().info(value).name;
    session.write<float>(name, training.session().read<float>(name));
  }
  change(session);
  session.refresh();
  step.accumulate(data::load_step({.dataset = run.dataset,
                                   .global_batch_size = run.global_batch_size,
                                   .capacity = run.step.capacity,
                                   .seed = run.step.seed},
                                  2),
                  2);
  for (const graph::Value value : session.graph().variables(graph::VariableRole::kGradient)) {
    double squares = 0.0;
    const graph::ValueInfo& info = session.graph().info(value);
    for (const double one : session.read<float>(info.name)) squares += one * one;
    if (squares <= most) continue;
    most = squares;
    largest = session.graph().info(info.master).name;
  }
  return largest;
}

// Moments of many parameters overflow in one update: none of them is the cause of another.
TEST_P(Divergence, OfManyThatOverflowTheLargestGradientIsNamed) {
  train::TrainingOptions run = resumed();
  run.step.optimizer.max_gradient_norm = 0.0;
  for (const float size : {1e28f, 1e30f}) {
    const auto change = [&](engine::Session& session) { set_apart(session, size); };
    const std::string largest = largest_gradient(run, change);
    EXPECT_NE(largest, "bert.embeddings.word_embeddings.weight") << "the first of the list";
    const std::string message = message_of(change, run);
    EXPECT_TRUE(contains(message, "produced numbers that are not finite in optimizer.v." + largest))
        << largest << ": " << message;
    EXPECT_TRUE(contains(message, " other parameters, none of which has a larger gradient"))
        << message;
  }
}

// Each element is finite, and so are the sums of squares in double.
TEST_P(Divergence, AGradientNormThatOverflowsNamesTheLargestGradient) {
  const auto change = [](engine::Session& session) {
    fill_alternating("bert.pooler.dense.weight", 0.0f)(session);
    set_apart(session, 1e38f);
  };
  const std::string message = message_of(change, resumed());
  EXPECT_TRUE(contains(message,
                       "gradient norm inf; nothing was updated. Every gradient is finite, "
                       "but their global norm overflows f32. The largest is that "
                       "of bert.pooler.dense.weight (norm "))
      << message;
}

// Weights of 1e30 are finite, and nothing can be computed with them.
TEST_P(Divergence, WeightsThatNoLongerComputeAreNeitherScoredNorSaved) {
  for (const char* const name : {"adamw", "lamb"}) {
    fs::remove_all(folder_);
    train::TrainingOptions first = options(2);
    first.step.optimizer.name = name;
    train::Training(first, ignore).run({});
    // Saved at the next step, as the last one, and as the best.
    for (const int64_t last : {6, 3}) {
      train::TrainingOptions run = options(last);
      run.step.optimizer.name = name;
      run.restore_dir = run.save_path;
      run.schedule.base_learning_rate = 1e30;
      run.evaluation_steps = {3};
      run.evaluate = [](engine::Session&, int64_t) -> double { throw std::logic_error("scored"); };
      const std::string message = message_of([](engine::Session&) {}, run);
      EXPECT_TRUE(contains(message,
                           "the weights after step 3 are finite, but no longer give finite losses "
                           "and gradients; they were not saved. It began in bert."))
          << message;
    }
  }
}

TEST_P(Divergence, ALearningRateThatOverflowsIsNotSaved) {
  const auto nothing = [](engine::Session&) {};
  for (const std::string& name : optim::optimizer_names()) {
    fs::remove_all(folder_);
    train::TrainingOptions first = options(2);
    first.step.optimizer.name = name;
    train::Training(first, ignore).run({});
    train::TrainingOptions run = options();
    run.step.optimizer.name = name;
    run.restore_dir = run.save_path;
    run.schedule.base_learning_rate = 1e300;  // infinite in f32
    const std::string message = message_of(nothing, run);
    EXPECT_TRUE(contains(message, "the update of step 3 ")) << message;
    EXPECT_TRUE(contains(
        message, "produced numbers that are not finite in " + largest_gradient(run, nothing)))
        << message;
    EXPECT_TRUE(contains(message, ": the learning rate 6e+299 overflows f32")) << message;
  }
}

TEST_P(Divergence, StartValuesThatAreNotFiniteAreRefused) {
  train::TrainingOptions run = options(1);
  train::Training(run, ignore).run({});
  const fs::path model = run.save_path / "checkpoint-1" / "model.safetensors";
  {
    std::string bytes = platform::read_file(model);
    const formats::SafetensorsFile file(model);
    const std::span<const std::byte> tensor = file.find(kQuery)->bytes;
    const size_t offset = bytes.size() - (file.tensors().back().bytes.data() +
                                          file.tensors().back().bytes.size() - tensor.data());
    std::memcpy(bytes.data() + offset + 3 * sizeof(float), &kNaN, sizeof(float));
    platform::write_file_atomically(model, bytes);
  }
  run.init_checkpoint = model;
  run.save_path = folder_ / "other";
  try {
    train::Training training(run, ignore);
    FAIL();
  } catch (const DataError& error) {
    EXPECT_EQ(error.what(), model.string() + ": " + kQuery +
                                " (element 3 is nan) is not finite; take another checkpoint");
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, Divergence, testing::Values(DType::kF32, DType::kBF16),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace cloze::tests
