#include "train/mllog_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/division.h"

namespace cloze::train {
namespace {

// "opt_lamb_beta_1" ...
void add_optimizer_facts(const optim::OptimizerOptions& options, formats::Json& facts) {
  struct Fact {
    const char* option;
    const char* key;
    double value;
  };
  const Fact all[] = {{"beta1", "beta_1", options.beta1},
                      {"beta2", "beta_2", options.beta2},
                      {"epsilon", "epsilon", options.epsilon},
                      {"weight_decay_rate", "weight_decay_rate", options.weight_decay_rate},
                      {"momentum", "momentum", options.momentum}};
  const optim::Optimizer& optimizer = optim::optimizer_named(options.name);
  for (const Fact& fact : all) {
    if (std::ranges::count(optimizer.options, fact.option) == 0) continue;
    facts[fmt::format("opt_{}_{}", optimizer.name, fact.key)] = fact.value;
  }
  facts["opt_epsilon"] = options.epsilon;
}

// Micro-batches of full sequences in a step.
int64_t accumulated(const TrainingOptions& options, int64_t sequence_length) {
  const int64_t sequences =
      std::max<int64_t>(options.step.capacity.tokens / std::max<int64_t>(sequence_length, 1), 1);
  return divide_up(options.global_batch_size, sequences);
}

}  // namespace

MllogRun mllog_run(const TrainingOptions& options, int64_t sequence_length,
                   const Submission& submission) {
  const optim::Schedule& schedule = options.schedule;
  formats::Json facts{{"cache_clear", false},
                      {"submission_benchmark", "bert"},
                      {"submission_org", submission.organisation},
                      {"submission_division", submission.division},
                      {"submission_status", "onprem"},
                      {"submission_platform", submission.platform},
                      {"seed", options.step.seed},
                      {"global_batch_size", options.global_batch_size},
                      {"gradient_accumulation_steps", accumulated(options, sequence_length)},
                      {"max_sequence_length", sequence_length},
                      {"opt_name", options.step.optimizer.name},
                      {"opt_base_learning_rate", schedule.base_learning_rate},
                      {"opt_learning_rate_warmup_steps", schedule.warmup_steps},
                      {"num_warmup_steps", schedule.warmup_steps},
                      {"start_warmup_step", 0},
                      {"opt_learning_rate_training_steps", schedule.total_steps},
                      {"opt_lamb_learning_rate_decay_poly_power", schedule.powers.back()}};
  if (options.evaluation_set) facts["eval_samples"] = options.evaluation_set->size();
  add_optimizer_facts(options.step.optimizer, facts);
  return {.facts = std::move(facts),
          .total_steps = options.num_steps,
          .evaluates = options.evaluate || options.evaluation_set,
          .target = options.target};
}

}  // namespace cloze::train
