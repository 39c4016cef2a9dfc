// The costs of each stage of a pipeline: what it computes, keeps and sends to others, found in the
// program of a whole step by the layers of its nodes.
//
// A stage has consecutive encoder layers. Outside the layers, what comes before the first of them
// and after the last backward one belongs to the first stage: the embeddings; what comes between
// the last forward and the first backward layer belongs to the last stage: the heads. A parameter
// is on every stage that reads it, so the word embedding, tied to the vocabulary projection, is on
// two; the first of them updates it, with the gradients of all of them
// (train/ranks/pipeline_step.h).
#pragma once

#include <cstdint>
#include <vector>

#include "forecast/step_seconds.h"
#include "plan/program_use.h"

namespace cloze::forecast {

// The gradient of a parameter that the stage updates.
struct FinishedGradient {
  double at = 0.0;  // seconds after the backward pass of a micro-batch has begun
  int64_t bytes = 0;
  double update = 0.0;  // seconds of a step, for its parameter
  int32_t number = 0;   // updates are made in this order
};

struct StageCosts {
  int64_t layers = 0;
  // Seconds
  double forward = 0.0;   // of a micro-batch
  double backward = 0.0;  // of a micro-batch
  double norm = 0.0;      // of a step: the norm of the stage's gradients, before any update
  double host = 0.0;      // of a step, between its launches
  // Bytes that are sent
  int64_t forward_bytes = 0;                // of a micro-batch, to the next stage
  int64_t backward_bytes = 0;               // of a micro-batch, to the stage before
  int64_t tied_bytes = 0;                   // of a step: gradients of parameters of several stages
  std::vector<FinishedGradient> gradients;  // in the order in which they are finished
  // Bytes that are kept
  std::vector<int64_t> parameter_bytes;  // of each tensor
  int64_t copy_bytes = 0;                // of parameters, as products read them
  int64_t gradient_bytes = 0;
  int64_t state_bytes = 0;       // of what the stage updates
  int64_t other_bytes = 0;       // inputs and metrics
  int64_t activation_bytes = 0;  // of one micro-batch
  int64_t workspace_bytes = 0;
  int64_t kernel_bytes = 0;  // beside these (plan/kept_bytes.h)

  int64_t all_parameter_bytes() const;
  double update() const;  // seconds of a step: the norm, and the updates of all parameters
};

// One for each stage. `layers`: of each stage.
std::vector<StageCosts> stage_costs(const plan::Program& program, const plan::ProgramUse& use,
                                    const StepSeconds& seconds, const std::vector<int64_t>& layers);

}  // namespace cloze::forecast
