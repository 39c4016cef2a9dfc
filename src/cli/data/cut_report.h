// What commands say of the text that they are about to cut: how much of it becomes [UNK], why, and
// what to do about it; and what is stripped from it. Text that a vocabulary hardly knows is refused.
#pragma once

#include "cli/options/option_table.h"
#include "data/corpus/text_sample.h"
#include "text/tokenizer.h"

namespace cloze::cli {

// Of [UNK] among the tokens of a text: beyond this, text and vocabulary hardly belong together.
inline constexpr double kMaxUnknownPercent = 20;

// --max-unknown-tokens, the same in every command that has it.
void add_unknown_limit(OptionTable& table, double& max_unknown_percent);

// Says it all on standard error. UserError when more than `max_unknown_percent` of the tokens are
// [UNK].
void report_cut(const data::TextSample& sample, const text::Tokenizer& tokenizer,
                double max_unknown_percent);

// Only what is stripped.
void report_stripped(const data::TextSample& sample, const text::Tokenizer& tokenizer);

}  // namespace cloze::cli
