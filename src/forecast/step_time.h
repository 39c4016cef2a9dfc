// The time of a step on many ranks, by a closed formula.
//
// With f, b the seconds of a micro-batch's passes on a stage, t those of a message to the next
// stage, M micro-batches and S stages, the pipeline takes
//
//   Grouped      sum(f + b) + 2 sum(t) + (M-1) G
//   Interleaved  sum(f + b) + 2 sum(t) + (M-1) P
//   Sequential   M (sum(f + b) + 2 sum(t))
//
// where G is f + b of the last stage or, if that is more, max f + max b of the others, as these
// compute all forward passes first. P is the largest mean, over neighbouring stages s..k, of f + b
// and of the messages between them, there and back: with so few micro-batches in flight a stage
// waits for its neighbours' answers. A bucket of gradients that is finished at r_i, and whose sum
// takes d_i, has arrived at max over i of (r_i + d_i + d_i+1 + ...); so has one of parameters that
// are updated at r_i.
#pragma once

#include "forecast/step_model.h"

namespace cloze::forecast {

// Seconds. The parts follow one another.
struct StepTime {
  double computing = 0.0;   // forward and backward passes, the mean over the stages
  double bubble = 0.0;      // the rest of the pipeline's time: a rank waits for other stages
  double gradients = 0.0;   // from the end of the pipeline until all sums are there
  double update = 0.0;      // and what the host does
  double parameters = 0.0;  // from the end of the update until all have what others updated

  double pipeline() const { return computing + bubble; }
  double bubble_share() const { return bubble / pipeline(); }
  double seconds() const { return pipeline() + gradients + update + parameters; }
};

StepTime step_time(const StepModel& model);

}  // namespace cloze::forecast
