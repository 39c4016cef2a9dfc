#include "cli/run/batch_plan.h"

#include <algorithm>
#include <bit>

#include "base/division.h"
#include "base/error.h"
#include "cli/options/machine_options.h"

namespace cloze::cli {
namespace {

int64_t product_of_batches(const RunOptions& o) {
  const int64_t accumulated = o.gradient_accumulation_count.value_or(1);
  int64_t product = o.micro_batch_size;
  const bool is_too_large = __builtin_mul_overflow(product, accumulated, &product) ||
                            __builtin_mul_overflow(product, o.replicas, &product) ||
                            product > INT32_MAX;
  if (!is_too_large) return product;
  throw_user_error(
      "micro_batch_size {} * gradient_accumulation_count {} * `replicas` {} are more than the {} "
      "sequences that a step can have; lower them",
      o.micro_batch_size, accumulated, o.replicas, INT32_MAX);
}

// A whole number of sequences of seq_length.
int64_t tokens_per_micro_batch(const RunOptions& options, int64_t sequences_per_step) {
  // Below the first a processor is wasted; above the second nothing is gained.
  constexpr int64_t kEnoughTokens = 1024;
  constexpr int64_t kPlentyOfTokens = 4096;
  // Larger micro-batches take more memory, and leave the last one of a step less full.
  constexpr int64_t kMicroBatchesOfAStep = 96;
  const int64_t S = options.seq_length;
  const int64_t enough = divide_up(kEnoughTokens, S);
  const int64_t plenty = std::max({options.micro_batch_size, kPlentyOfTokens / S, enough});
  const int64_t share = sequences_per_step / kMicroBatchesOfAStep;
  int64_t most = std::clamp(share, enough, plenty);
  if (const auto memory = card_memory(chosen_device(options.training.step.compile.device))) {
    const DType dtype = options.training.step.compute_dtype;
    most = std::max<int64_t>(tokens_of_card(*memory, options.model(), dtype) / S, 1);
  }
  int64_t sequences = std::min(sequences_per_step, most);
  while (options.training.synthetic_data && sequences_per_step % sequences != 0) --sequences;
  return S * sequences;
}

}  // namespace

int64_t tokens_of_card(int64_t memory_bytes, const models::BertConfig& model, DType dtype) {
  constexpr int64_t kNumbersOfUnit = 16;
  constexpr int64_t kMostTokens = 65536;  // more gain nothing
  const int64_t token_bytes =
      kNumbersOfUnit * bytes_of(dtype) * model.hidden_size * model.num_hidden_layers;
  const int64_t fit = memory_bytes / 10 * 7 / token_bytes;
  return std::min(kMostTokens, static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(fit))));
}

BatchPlan batch_plan(const RunOptions& options) {
  constexpr int64_t kRoomForShortSequences = 8;
  BatchPlan plan;
  plan.sequences_per_step =
      options.global_batch_size ? *options.global_batch_size : product_of_batches(options);
  plan.tokens = options.tokens_per_micro_batch.value_or(
      tokens_per_micro_batch(options, plan.sequences_per_step));
  plan.full_sequences =
      std::max<int64_t>(std::min(plan.tokens / options.seq_length, plan.sequences_per_step), 1);
  plan.sequences = std::min(plan.sequences_per_step, plan.full_sequences * kRoomForShortSequences);
  plan.micro_batches = divide_up(plan.sequences_per_step, plan.full_sequences);
  return plan;
}

int64_t sequences_of_a_step(const formats::Json& options) {
  RunOptions run;
  const auto take = [&](const char* name, auto& target) {
    if (!options.contains(name)) return;
    if (!options.at(name).is_number_integer()) {
      throw_user_error("{} is {}; it must be a whole number", name, options.at(name).dump());
    }
    target = options.at(name).template get<int64_t>();
  };
  take("micro_batch_size", run.micro_batch_size);
  take("gradient_accumulation_count", run.gradient_accumulation_count);
  take("replicas", run.replicas);
  take("global_batch_size", run.global_batch_size);
  return batch_plan(run).sequences_per_step;
}

}  // namespace cloze::cli
