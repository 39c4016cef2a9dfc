// The shape of the model that a run starts from, which its folder says: nobody has to repeat it.
#pragma once

#include <filesystem>

#include "cli/options/option_table.h"
#include "cli/training/run_options.h"
#include "models/bert_config.h"

namespace cloze::cli {

// May options say how layers compute (hidden_act, layer_norm_eps) otherwise than the start model?
enum class OtherArithmetic {
  kNoted,    // pre-training learns to compute so
  kRefused,  // fine-tuning would not
};

// The configuration beside the model at `path`, overridden by the options that were given: rates of
// dropout, switches of biases. A vocab_size of a file does not count, and a note says so. UserError
// for an option that gives another size than the model has, or another variant.
models::BertConfig config_of_start(const std::filesystem::path& path,
                                   const models::BertConfig& wanted, const OptionTable& table,
                                   OtherArithmetic arithmetic);

// A default is not a request: where the model has fewer positions, they are the seq_length, and a
// note says so. UserError when a seq_length that was given is over them.
void fit_seq_length(RunOptions& options, const OptionTable& table);

}  // namespace cloze::cli
