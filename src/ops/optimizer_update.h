// The operators of the update phase, one call per parameter. All tensors are f32, m apart.
//
// global_norm:     norm [1] = sqrt(sum over all inputs of the sum of squares); summed in double
// gradient_scale:  norm, loss_scale, loss ... [1] -> scale [1]: what gradients are multiplied by
//                  before they are used. 1 / loss_scale, times max_norm / max(norm / loss_scale,
//                  max_norm) when clipping (max_norm > 0); 0 when the norm or a loss is not finite,
//                  and then no update happens at all.
//
// lamb, adamw:     mutate parameter, m, v and check.
// Inputs:  parameter, m, v, gradient  f32, one shape;  gradient_scale, learning_rate [1] f32;
//          update_index [1] i32, t = 1 for the first update;  check [1] f32
//          m may be bf16 or f16. It is stored as first_moment_scale * m, and the update uses the
//          stored, rounded value.
//   g = gradient_scale * gradient;  m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2
//   mhat = m / (1 - beta1^t), vhat = v / (1 - beta2^t) with use_debiasing, else m, v
//   With debiases_epsilon, epsilon / sqrt(1 - beta2^t) stands for epsilon: it is added to sqrt(v)
//   before that is corrected, as in Kingma, Ba, arXiv 1412.6980, end of section 2.
//   lamb:   u = mhat / (sqrt(vhat) + epsilon) + weight_decay * w
//           ratio = min(|w|, max_weight_norm) / |u|, or 1 when either norm is 0 or adapts is false;
//           w -= lr * ratio * u
//   adamw:  w -= lr * (mhat / (sqrt(vhat) + epsilon) + weight_decay * w)
//   check becomes NaN when a new w, m or v is not finite; otherwise it keeps its value.
// Gradients are cleared by the session after the update, not here.
//
// lamb_norms, lamb_move: lamb in two launches, for tensors that share a trust ratio as if they were
// one. Inputs as lamb's.
//   lamb_norms:  mutates m, v and check; -> norms [2] f32: |w|, |u|, or zeros when no update
//                happens. Does not read learning_rate.
//   lamb_move:   norms, repeated: of each of the tensors that share a ratio, itself included.
//                Mutates parameter and check; the moments are those that lamb_norms left and
//                checked.
//     |w|, |u| = sqrt(sum over norms of the squares);  ratio and w as lamb's
// Source: You et al., arXiv 1904.00962; Loshchilov, Hutter, arXiv 1711.05101 (as
// torch.optim.AdamW). What is left out of decay and adaptation: optim/parameter_rules.h.
// Defaults:
// graphcore/examples nlp/bert/tensorflow1 (optim/optimizer.cc).
#pragma once

#include "graph/graph.h"

namespace cloze::ops {

struct GradientScaleAttributes {
  double max_norm = 0.0;  // 0: no clipping
};

struct MomentAttributes {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-6;
  double weight_decay = 0.0;
  bool use_debiasing = true;
  bool debiases_epsilon = false;  // has no effect without use_debiasing
  bool adapts = true;             // lamb only: scale the update by the trust ratio
  double max_weight_norm = 0.0;   // lamb only: in the ratio; 0: no limit
  double first_moment_scale = 1.0;
};

struct GlobalNorm {
  enum Output { kNorm };
};
struct GradientScale {
  enum Input { kNorm, kLossScale };
  enum Output { kScale };
};
struct OptimizerUpdate {
  // The inputs of lamb and of adamw.
  enum Input { kParameter, kM, kV, kGradient, kGradientScale, kLearningRate, kUpdateIndex, kCheck };
};
struct LambNorms : OptimizerUpdate {
  enum Output { kNorms };
};
struct LambMove : OptimizerUpdate {
  enum Others { kNorms = kCheck + 1 };
};

extern const graph::OpDefinition kGlobalNorm;
extern const graph::OpDefinition kGradientScale;
// Their attributes: MomentAttributes.
extern const graph::OpDefinition kLamb;
extern const graph::OpDefinition kAdamW;
extern const graph::OpDefinition kLambNorms;
extern const graph::OpDefinition kLambMove;

}  // namespace cloze::ops
