// The shape of the model that a run starts from, which its folder says: nobody has to repeat it.
#pragma once

#include <filesystem>

#include "cli/options/option_table.h"
#include "cli/run/run_options.h"
#include "models/bert_config.h"

namespace cloze::cli {

// What becomes of an option that says otherwise than the start model how layers compute (hidden_act,
// layer_norm_eps).
enum class OtherArithmetic {
  kNoted,    // it counts, with a note: pre-training adapts the weights to it
  kRefused,  // it is a UserError: fine-tuning is too short for that
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
