#include "cli/pretrain_options.h"

#include <algorithm>

#include "base/error.h"

namespace cloze::cli {
namespace {

void validate_data(const PretrainOptions& o) {
  if (o.generated_data && !o.train_file.empty()) {
    throw_user_error("train_file {} and generated_data both give the data; give one", o.train_file);
  }
  if (!o.input_file.empty() && (o.generated_data || !o.train_file.empty())) {
    throw_user_error("input_file {} and {} both give the data; give one", o.input_file,
                     o.generated_data ? "generated_data" : "train_file " + o.train_file);
  }
  if (!o.generated_data && o.train_file.empty() && o.input_file.empty() && !o.compile_only) {
    throw_user_error("there is no data; give input_file, train_file or generated_data");
  }
  if (o.epochs && o.generated_data) {
    throw_user_error("epochs is {}, but generated_data has no end; give num_train_steps",
                     *o.epochs);
  }
  if (o.max_predictions() > o.seq_length) {
    throw_user_error("max_predictions_per_seq {} is over seq_length {}; lower it",
                     o.max_predictions(), o.seq_length);
  }
}

}  // namespace

void settle_rivals(PretrainOptions& options, const OptionTable& table) {
  settle_rivals(static_cast<RunOptions&>(options), table);
  keep_higher_rank(table, "train_file", options.train_file, "generated_data",
                   options.generated_data);
  keep_higher_rank(table, "train_file", options.train_file, "input_file", options.input_file);
  keep_higher_rank(table, "input_file", options.input_file, "generated_data",
                   options.generated_data);
}

void validate(PretrainOptions& options) {
  validate(static_cast<RunOptions&>(options));
  validate_start(options);
  if (options.training.init_optimizer != train::InitOptimizer::kFresh &&
      options.training.init_checkpoint.empty() && !options.compile_only) {
    throw_user_error("init_optimizer goes with init_checkpoint, which is not given");
  }
  validate_model(options);
  validate_data(options);
}

int64_t prediction_room(const PretrainOptions& options, const BatchPlan& plan) {
  const int64_t full_sequences = std::max<int64_t>(plan.tokens / options.seq_length, 1);
  // No sequence has more than max_predictions_per_seq, but short ones have more per token: a
  // quarter is left for them.
  return options.max_predictions() * std::min(4 * plan.sequences, 5 * full_sequences) / 4;
}

}  // namespace cloze::cli
