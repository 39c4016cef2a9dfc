#include "forecast/step_simulation.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "forecast/example_steps_test.h"
#include "forecast/step_time.h"

namespace cloze::forecast {
namespace {

// The bounds that docs/guides/planning.md states.
constexpr double kMostOff = 0.10, kMostOffSharded = 0.25;

void expect_formula(const StepModel& model) {
  const SimulatedStep played = simulated_step(model);
  const StepTime formula = step_time(model);
  const RankLayout& layout = model.layout;
  const std::string what = fmt::format(
      "{} replicas, {} stages, schedule {}, sharded {}, overlap {}", layout.replicas, layout.stages,
      static_cast<int>(layout.schedule), layout.is_sharded, model.network.overlap);
  EXPECT_NEAR(formula.seconds() / played.seconds, 1.0,
              layout.is_sharded ? kMostOffSharded : kMostOff)
      << what;
  EXPECT_NEAR(formula.pipeline() / played.pipeline, 1.0, kMostOff) << what;
}

TEST(StepSimulation, TheFormulaIsWithinItsBoundUpTo1024Ranks) {
  for (const auto schedule : {PipelineSchedule::kGrouped, PipelineSchedule::kInterleaved,
                              PipelineSchedule::kSequential}) {
    for (const int64_t stages : {1, 2, 4, 8}) {
      for (const int64_t ranks : {8, 32, 128}) {
        for (const bool is_sharded : {false, true}) {
          for (const double overlap : {0.0, 1.0}) {
            if (is_sharded && ranks / stages > 10) continue;  // more replicas than tensors
            expect_formula(model_of({.replicas = ranks / stages,
                                     .stages = stages,
                                     .micro_batches = 6,
                                     .schedule = schedule,
                                     .is_sharded = is_sharded},
                                    cluster(overlap)));
          }
        }
      }
    }
  }
  expect_formula(model_of({.replicas = 16, .micro_batches = 2, .gradient_bytes = 2}, cluster(1.0)));
  expect_formula(model_of({.replicas = 1024, .micro_batches = 2}, cluster(1.0)));
  expect_formula(model_of({.replicas = 128, .stages = 8, .micro_batches = 9}, cluster(0.0)));
}

// Stages of unlike sizes, as the first and the last are.
TEST(StepSimulation, TheFormulaKnowsUnequalStages) {
  for (const auto schedule : {PipelineSchedule::kGrouped, PipelineSchedule::kInterleaved}) {
    StepModel model = model_of(
        {.replicas = 4, .stages = 4, .micro_batches = 9, .schedule = schedule}, cluster(1.0));
    model.stages[0].forward *= 1.3;
    model.stages[3].backward *= 2.0;
    model.stages[1].backward *= 0.5;
    expect_formula(model);
  }
}

TEST(StepSimulation, WithoutMessagesAPipelineIsWhatItsScheduleSays) {
  const StepModel model = model_of({.stages = 4, .micro_batches = 5}, endless_network());
  EXPECT_NEAR(simulated_step(model).pipeline, 8 * 3e-3, 1e-9);
}

// After the passes of ranks that move in step, both know the same.
TEST(StepSimulation, SumsAndUpdatesAreThoseOfTheFormula) {
  for (const RankLayout& layout :
       {RankLayout{.replicas = 2, .micro_batches = 2, .is_sharded = true},
        RankLayout{.replicas = 2, .stages = 2, .micro_batches = 4}}) {
    for (const double overlap : {0.0, 1.0}) {
      const StepModel model = model_of(layout, cluster(overlap));
      const SimulatedStep played = simulated_step(model);
      const StepTime formula = step_time(model);
      const double after = formula.gradients + formula.update + formula.parameters;
      EXPECT_NEAR((played.seconds - played.pipeline) / after, 1.0, 0.02)
          << layout.stages << " stages, overlap " << overlap;
    }
  }
}

// All wait for the first rank, whose passes and update take half as long again.
TEST(StepSimulation, AStragglerHoldsAllUp) {
  const StepModel model = model_of({.replicas = 8, .micro_batches = 4}, endless_network());
  const double lost = simulated_step(model, 1.5).seconds - simulated_step(model).seconds;
  EXPECT_NEAR(lost, 0.5 * (4 * 3e-3 + model.update_seconds(0, 0)), 1e-9);
}

}  // namespace
}  // namespace cloze::forecast
