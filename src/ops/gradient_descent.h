// sgd, momentum: operators of the update phase without second moments, one call per parameter. All
// tensors are f32.
//
// Inputs:  parameter, velocity (momentum only), gradient  one shape;  gradient_scale, learning_rate
//          [1];  update_index [1] i32 (not read);  check [1]
//   g = gradient_scale * gradient
//   sgd:       w -= lr * (g + weight_decay * w)
//   momentum:  velocity = momentum * velocity + g;  w -= lr * (velocity + weight_decay * w)
//   check becomes NaN when what is written is not finite; otherwise it keeps its value.
// They mutate parameter, velocity and check. With a scale of 0 nothing moves
// (ops/optimizer_update.h). Source: Polyak, USSR Computational Mathematics 4, 1964; without
// Nesterov's step and without dampening, as TensorFlow's MomentumOptimizer. The decay is apart from
// the gradient, as adamw's.
#pragma once

#include "graph/graph.h"

namespace cloze::ops {

struct GradientDescentAttributes {
  double momentum = 0.984375;  // momentum only
  double weight_decay = 0.0;
};

struct Sgd {
  enum Input { kParameter, kGradient, kGradientScale, kLearningRate, kUpdateIndex, kCheck };
};
struct Momentum {
  enum Input {
    kParameter,
    kVelocity,
    kGradient,
    kGradientScale,
    kLearningRate,
    kUpdateIndex,
    kCheck
  };
};

extern const graph::OpDefinition kSgd;       // attributes: GradientDescentAttributes
extern const graph::OpDefinition kMomentum;  // attributes: GradientDescentAttributes

}  // namespace cloze::ops
