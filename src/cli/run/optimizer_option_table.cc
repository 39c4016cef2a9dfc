#include "cli/run/optimizer_option_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/options/machine_options.h"

namespace cloze::cli {
namespace {

using Idle = std::function<std::string()>;  // OptionRules::idle

// Makes options idle that the chosen row of a table (optimizer, lr_schedule) does not read.
template <typename OptionsOf>
void set_idle_by_choice(OptionTable& table, const char* kind, const std::string& chosen,
                        const std::vector<std::string>& names, OptionsOf options_of) {
  for (const std::string& name : names) {
    for (const std::string_view option : options_of(name)) {
      table.find(option)->option.rules.idle = [=, &chosen]() -> std::string {
        const auto read = options_of(chosen);
        const bool is_read = std::ranges::find(read, option) != read.end();
        return is_read ? "" : fmt::format("with `{}` {}", kind, chosen);
      };
    }
  }
}

// The first reason is the one that is given.
void add_idle(OptionTable& table, const char* name, Idle more) {
  Idle& idle = table.find(name)->option.rules.idle;
  idle = [before = std::move(idle), more = std::move(more)] {
    const std::string why = before();
    return why.empty() ? more() : why;
  };
}

// Above 0: a weight that no gradient has reached yet would divide 0 by 0.
constexpr double kLeastEpsilon = 1e-30;

void set_idle_by_optimizer(OptionTable& table, const optim::OptimizerOptions& o) {
  const auto options_of = [](std::string_view name) {
    return optim::optimizer_named(name).options;
  };
  set_idle_by_choice(table, "optimizer", o.name, optim::optimizer_names(), options_of);
  // Where no moment is corrected, epsilon is not either. adam has no such switch.
  add_idle(table, "debias_epsilon", [&o, options_of] {
    const auto read = options_of(o.name);
    const bool has_switch = std::ranges::find(read, "use_debiasing") != read.end();
    return has_switch && !o.use_debiasing ? "without use_debiasing" : "";
  });
}

void add_lamb_options(OptionTable& table, optim::OptimizerOptions& o) {
  table.add("use_nvlamb", &o.use_nvlamb, "Divide gradients by max(their global norm, 1)");
  table.add("weight_norm_clip", &o.weight_norm_clip,
            "lamb: a larger weight norm counts as this; 0: no limit", {.minimum = 0});
  table.add("adapt_vectors", &o.adapts_vectors,
            "lamb: biases and LayerNorm's parameters have trust ratios, as the matrices have");
  table.add(
      "join_qkv", &o.joins_qkv,
      "lamb: a layer's query, key and value have one trust ratio, as if they were one tensor");
}

}  // namespace

void add_schedule_options(OptionTable& table, optim::Schedule& schedule) {
  table.begin_group("Learning rate");
  table.add_common("base_learning_rate", &schedule.base_learning_rate, "Peak learning rate",
                   {.minimum = 0});
  table.add_common("warmup", &schedule.warmup, "Warm-up steps; below 1: a share of all steps",
                   {.minimum = 0});
  table.add("warmup_rounds_up", &schedule.rounds_warmup_up,
            "A warm-up that is a share is rounded up to whole steps, as in transformers, and not "
            "down; poly_warmup does not round");
  table.add_common(
      "lr_schedule", &schedule.name,
      "Schedule after the warm-up; poly_warmup counts the decay from step 0, as Habana and "
      "NVIDIA do; linear_held keeps its last rate, as MLPerf's BERT of Graphcore does",
      {.choices = optim::schedule_names()});
  table.add("lr_power", &schedule.powers, "One power, or two: for the warm-up and for the decay",
            {.minimum = 0});
  table.add("lr_schedule_by_step", &schedule.rates_by_step,
            "STEP:RATE pairs of the schedule custom, each rate from its step on: 0:1e-4,1000:5e-5",
            {.minimum = 0});
  table.add("decay_rate", &schedule.decay_rate, "natural_exponential: decay rate per stair",
            {.minimum = 0});
  table.add("decay_steps", &schedule.decay_steps, "natural_exponential: steps per stair",
            {.minimum = 1});
  set_idle_by_choice(table, "lr_schedule", schedule.name, optim::schedule_names(),
                     optim::schedule_options);
  add_idle(table, "warmup_rounds_up", [&warmup = schedule.warmup] {
    return warmup < 1.0 ? "" : fmt::format("with a warmup of {} steps", warmup);
  });
}

void add_optimizer_options(OptionTable& table, optim::OptimizerOptions& o) {
  const OptionRules share{.minimum = 0, .maximum = kJustBelowOne};
  table.begin_group("Optimiser");
  table.add_common("optimizer", &o.name,
                   "Update rule; mpadamw is the same as adamw, as weights are always f32",
                   {.choices = optim::optimizer_names()});
  table.add("momentum", &o.momentum, "Coefficient of the optimiser momentum", share);
  table.add("beta1", &o.beta1, "Decay of the first moment", share);
  table.add("beta2", &o.beta2, "Decay of the second moment", share);
  table.add("epsilon", &o.epsilon, "Added to the square root of the second moment",
            {.minimum = kLeastEpsilon});
  table.add_common("weight_decay_rate", &o.weight_decay_rate,
                   "Decoupled weight decay; biases and LayerNorm are exempt", {.minimum = 0});
  table.add("decay_layer_norm_scale", &o.decays_layer_norm_scale,
            "LayerNorm's scale decays, as the matrices do");
  table.add("use_debiasing", &o.use_debiasing,
            "Bias correction: correct the moments for starting at 0");
  table.add("debias_epsilon", &o.debiases_epsilon,
            "Add epsilon before the second moment is corrected, as Habana's AdamW does");
  table.add("first_moment_precision", named(o.first_moment, dtype_named, name_of),
            "Precision in which adam, adamw and lamb keep the first moment",
            {.choices = dtype_names()});
  table.add("bf16_weights", &o.has_bf16_weights,
            "Weights are bf16 numbers: each update rounds them up or down at random, correct on "
            "average (stochastic rounding); they still take 4 bytes each");
  add_lamb_options(table, o);
  table.add("use_mpclip", &o.use_mpclip, "Clip the global gradient norm at 1");
  table.add_common(
      "max_grad_norm", &o.max_gradient_norm,
      "Clip the global gradient norm at this value; 0: never (1 with adamw, use_mpclip, "
      "use_nvlamb; else 0)",
      {.minimum = 0});
  set_idle_by_optimizer(table, o);
}

}  // namespace cloze::cli
