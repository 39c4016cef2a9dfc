#include "train/recovery.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "data/loader.h"
#include "platform/files/own_folder_test.h"
#include "train/small_training_test.h"

namespace cloze::train {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

StepResult with_loss(double loss) { return {.losses = {{.name = "mlm", .loss = loss}}}; }

std::string divergence_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const DivergenceError& error) {
    return error.what();
  }
  return "none";
}

// A run that goes back without its weights.
struct Watched {
  explicit Watched(TrainingOptions options)
      : run(std::move(options), [this](const std::string& line) { notices.push_back(line); }) {
    run.step.session().initialize_parameters(3);
    batch = data::load_step({.dataset = run.options.dataset,
                             .global_batch_size = run.options.global_batch_size,
                             .capacity = run.options.step.capacity,
                             .seed = run.options.step.seed},
                            0);
  }
  // The step that the run is at.
  StepAhead step() const {
    return {.batch = &batch, .step = run.state.step, .loss_scale = recovery.loss_scale(0)};
  }

  std::vector<std::string> notices;
  Run run;
  Saver saver{run};
  Recovery recovery{run, saver, [this](const FoundCheckpoint& there) {
                      run.state = OpenCheckpoint(there.path).state;
                    }};
  data::StepBatch batch;
};

class RecoveryTest : public platform::OwnFolderTest {
 protected:
  TrainingOptions options(WatchOptions watch = {}) const {
    TrainingOptions options = small_training(folder_ / "run");
    options.watch = watch;
    return options;
  }
};

TEST_F(RecoveryTest, SkipsSpikesUntilThereAreTooMany) {
  Watched watched(options({.on_loss_spike = WatchPolicy::kSkip}));
  for (int i = 0; i < 70; ++i) watched.recovery.take_good_step(i % 2 == 0 ? 1.0 : 1.1);
  EXPECT_TRUE(watched.recovery.passes_spike_watch(with_loss(1.2), watched.batch));
  for (int i = 0; i < kMostSkips; ++i) {
    EXPECT_FALSE(watched.recovery.passes_spike_watch(with_loss(1e6), watched.batch));
  }
  EXPECT_EQ(watched.run.state.skipped_steps, kMostSkips);
  EXPECT_EQ(watched.run.state.samples, kMostSkips * watched.batch.num_samples);
  EXPECT_EQ(watched.run.state.step, 0);
  EXPECT_TRUE(watched.notices.back().ends_with("The step is skipped"));
  const std::string error =
      divergence_of([&] { watched.recovery.passes_spike_watch(with_loss(1e6), watched.batch); });
  EXPECT_NE(error.find("16 steps in a row have already been skipped"), std::string::npos) << error;
  // After a good step, skips are counted from zero again.
  watched.recovery.take_good_step(1.0);
  EXPECT_FALSE(watched.recovery.passes_spike_watch(with_loss(1e6), watched.batch));
}

TEST_F(RecoveryTest, GoesBackToTheNewestCheckpointWithOtherData) {
  Watched watched(options({.on_non_finite = WatchPolicy::kRollBack}));
  TrainingState& state = watched.run.state;
  watched.run.step.run(watched.batch, 0, 0.0);
  watched.saver.save(/*is_last=*/true);
  for (int i = 1; i <= kMostRollBacks; ++i) {
    ++state.step;
    watched.run.count(watched.batch);
    EXPECT_FALSE(watched.recovery.passes_update(with_loss(kNan), watched.step()));
    EXPECT_EQ(state.step, 0);
    EXPECT_EQ(state.skipped_steps, 2 * i) << "the undone step, and the bad one";
    EXPECT_EQ(state.samples, 2 * i * watched.batch.num_sequences);
    EXPECT_EQ(state.watch.roll_backs, i);
  }
  const std::string error =
      divergence_of([&] { watched.recovery.passes_update(with_loss(kNan), watched.step()); });
  EXPECT_NE(error.find("The run has already gone back 3 times to step 0"), std::string::npos)
      << error;
}

TEST_F(RecoveryTest, AnOverflowHalvesTheLossScale) {
  TrainingOptions dynamic = options();
  dynamic.loss_scale.given = 0.0;
  Watched watched(dynamic);
  const double before = watched.recovery.loss_scale(0);
  EXPECT_FALSE(watched.recovery.passes_update(with_loss(kNan), watched.step()));
  EXPECT_EQ(watched.recovery.loss_scale(0), before / 2.0);
  EXPECT_EQ(watched.run.state.skipped_steps, 1);
  EXPECT_EQ(watched.notices.back(),
            "step 1 overflowed with loss scale 65536 and is skipped; the next has 32768");
}

TEST_F(RecoveryTest, WeightsWithoutFiniteGradientsEndTheRun) {
  Watched watched(options());
  EXPECT_TRUE(watched.recovery.have_finite_gradients()) << "nothing to try them with";
  watched.recovery.set_probe(watched.batch.micro_batches.front());
  watched.run.state.step = 1;
  EXPECT_TRUE(watched.recovery.have_finite_gradients());
  engine::Session& session = watched.run.step.session();
  const graph::Value weight = session.graph().variables(graph::VariableRole::kParameter).front();
  const float bad[] = {std::numeric_limits<float>::infinity()};
  session.executor().write_part(weight, 0, std::as_bytes(std::span(bad)));
  EXPECT_TRUE(watched.recovery.have_finite_gradients()) << "the step has been tried";
  watched.run.state.step = 2;
  const std::string error = divergence_of([&] { watched.recovery.have_finite_gradients(); });
  EXPECT_NE(error.find("but no longer give finite losses and gradients; they were not saved"),
            std::string::npos)
      << error;
}

TEST_F(RecoveryTest, StepsAheadShowWhereTheyWentWrongIfNoneFollows) {
  Watched watched(options());
  const StepResult good = with_loss(1.0), bad = with_loss(kNan);
  StepResult overflow = good;
  overflow.update_is_finite = false;
  watched.recovery.require_still_known(std::vector{good, good});
  watched.recovery.require_still_known(std::vector{good, bad, bad});
  watched.recovery.require_still_known(std::vector{good, overflow});
  for (const std::vector<StepResult>& results : {std::vector{bad, good}, {overflow, bad}}) {
    const std::string error = divergence_of([&] { watched.recovery.require_still_known(results); });
    EXPECT_NE(error.find("Set device_iterations 1 to see where it begins"), std::string::npos)
        << error;
  }
}

TEST_F(RecoveryTest, AHighLossIsToldOnceAndAtTheEnd) {
  Watched watched(options());
  EXPECT_EQ(watched.recovery.high_loss_at_end(), std::nullopt);
  for (int i = 0; i < kHighLossSteps + 3; ++i) {
    ++watched.run.state.step;
    watched.recovery.take_good_step(1e3);
    watched.recovery.watch_high_loss(1e3);
  }
  ASSERT_EQ(watched.notices.size(), 1u);
  EXPECT_EQ(watched.notices.front().find("step 16: the loss 1000 is worse than an untrained"), 0u)
      << watched.notices.front();
  EXPECT_EQ(watched.recovery.high_loss_at_end().value().find("the loss of the last 19 steps"), 0u);
  watched.recovery.take_good_step(0.1);
  EXPECT_EQ(watched.recovery.high_loss_at_end(), std::nullopt);
}

}  // namespace
}  // namespace cloze::train
