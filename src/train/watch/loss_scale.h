// Loss scale: what the gradient of the loss is multiplied by, and with it every gradient, so that
// small ones are not lost in f16. The update divides by it again (ops/optimizer_update.h): norms,
// clipping and moments are those of the true gradients.
//
//   given    one number, or that of the largest key of `by_step` that is not above the step
//   dynamic  begins with `initial`; doubles after `window` good steps in a row, up to 2^24; halves
//            when a step overflows
//
// A step overflows when a loss or a gradient is not finite. It is skipped: nothing is updated, it
// does not count as a step, and the next one takes other data. A run has to stop when a dynamic
// scale would fall below `minimum`, and when kMostOverflows steps in a row overflow with a given
// one.
// Source: Micikevicius et al., arXiv 1710.03740; defaults of torch.amp.GradScaler and DeepSpeed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/dtype.h"

namespace cloze::train {

inline constexpr int64_t kMostOverflows = 16;

struct LossScaleOptions {
  std::optional<double> given;  // 0: dynamic; nothing: dynamic with f16, else 1
  std::map<int64_t, double> by_step;
  double initial = 65536.0;
  int64_t window = 2000;
  double minimum = 1.0;

  bool is_dynamic(DType compute_dtype) const;
  // UserError for options that contradict each other, or that only a dynamic scale reads.
  void validate(DType compute_dtype) const;
};

// What a run carries from step to step, and a checkpoint keeps.
struct LossScaleState {
  std::optional<double> dynamic;  // the scale; nothing: `initial`, or it is given
  int64_t good_steps = 0;         // in a row with this dynamic scale
  int64_t overflows = 0;          // in a row
  bool operator==(const LossScaleState&) const = default;
};

class LossScale {
 public:
  LossScale(LossScaleOptions options, DType compute_dtype);

  // Whether a step that is not finite is an overflow; otherwise it has diverged. In f16 and with a
  // dynamic scale.
  bool skips_overflows() const { return skips_overflows_; }
  double at(int64_t step, const LossScaleState& state) const;
  void take_good_step(LossScaleState& state) const;
  // False when the run has to stop.
  bool take_overflow(LossScaleState& state) const;
  bool is_dynamic() const { return is_dynamic_; }

 private:
  LossScaleOptions options_;
  bool is_dynamic_;
  bool skips_overflows_;
};

}  // namespace cloze::train
