// A step on many ranks, played event by event: every pass of every rank, every message of its
// pipeline, and each rank's sends of a sum, one after the other on its own link or in the queue of
// its host's. The closed formula (step_time.h) assumes that ranks move in step; here a rank begins
// what it can, as soon as its inputs are there and its link is free.
//
// The sends of a rank to all ranks of one host are one event. They take time on the link that they
// leave by, and on the link that they arrive by.
#pragma once

#include "forecast/step_model.h"

namespace cloze::forecast {

// Seconds.
struct SimulatedStep {
  double pipeline = 0.0;  // until the last backward pass
  double seconds = 0.0;   // of the whole step
};

// straggler: how many times as long the first rank computes.
SimulatedStep simulated_step(const StepModel& model, double straggler = 1.0);

}  // namespace cloze::forecast
