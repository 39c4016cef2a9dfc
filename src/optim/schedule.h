// Learning rate as a function of the step, nothing else: a resumed run reads the same values.
//
// With s the step counted from 0, W the warm-up steps, T all steps, m = 1e-7:
//   polynomial_decay, power 1      s <= W: base s/W      else base (T - s - 1)/(T - W)
//   polynomial_decay, powers p, q  s <= W: base (s/W)^p  else (base - m) (1 - (s-W)/(T-W))^q + m
//     (one power other than 1 stands for both)
//   cosine_decay                   s <= W: base s/W      else base/2 (1 + cos(pi (s-W)/(T-W)))
//   constant                       s <= W: base s/W      else base
// and never less than m. With W = 0 there is no warm-up: the second form holds from step 0. From
// step T on polynomial_decay and cosine_decay stay at m.
//   poly_warmup, powers p, q       s+1 < W: base ((s+1)/W)^p  else base (1 - (s+1)/T)^q
// counts the decay from the start of the run, so the rate drops where the warm-up ends; its last
// step has rate 0.
//   linear                         s < W: base s/W       else base (T - s)/(T - W)
// begins at 0 when there is a warm-up, and is 0 from step T on.
//   linear_held                    as linear; the rate of step T - 1 stays; never less than m
//   natural_exponential            s <= W: base s/W      else base exp(-r floor((s - W)/d))
// with r decay_rate and d decay_steps.
//   custom                         the rate of the largest step <= s in rates_by_step
// Sources: Graphcore examples v3.0.0, nlp/bert/tensorflow1/lr_schedules; for poly_warmup NVIDIA
// DeepLearningExamples, PyTorch/LanguageModeling/BERT/schedulers.py, which Habana's BERT has too;
// for linear transformers, get_linear_schedule_with_warmup; for linear_held Graphcore's MLPerf BERT
// v2.0, bert_optimizer.py.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cloze::optim {

inline constexpr double kMinimumLearningRate = 1e-7;

struct Schedule {
  std::string name = "polynomial_decay";  // of the table
  double base_learning_rate = 2e-5;       // the peak
  double warmup = 0.0;            // a whole number of steps, or a share of all steps, in [0, 1)
  double warmup_steps = 0.0;      // of total_steps; over() sets both
  bool rounds_warmup_up = false;  // a warm-up that is a share, as in transformers
  int64_t total_steps = 1;
  std::vector<double> powers = {1.0};       // one, or {of the warm-up, of the decay}
  double decay_rate = 0.0;                  // natural_exponential
  int64_t decay_steps = 1;                  // natural_exponential
  std::map<int64_t, double> rates_by_step;  // custom; begins at step 0

  // UserError that names the value at fault.
  void validate() const;
  // This schedule over so many steps, at least 1. A warm-up that is a share is a part of a step in
  // poly_warmup, and rounded in the others; one of more steps than there are is cut to those.
  Schedule over(int64_t steps) const;
};

double learning_rate(const Schedule& schedule, int64_t step);

std::vector<std::string> schedule_names();
// The options that say more of a schedule than its name: "base_learning_rate", "warmup" ...
// UserError for a name that is not in the table.
std::vector<std::string_view> schedule_options(std::string_view schedule_name);

}  // namespace cloze::optim
