// The report on a text that a command is about to cut: how much of it becomes [UNK], why, and what
// to do about it; and what is stripped from it. Text that a vocabulary hardly knows is refused.
#pragma once

#include <span>
#include <string>

#include "cli/options/option_table.h"
#include "data/corpus/text_sample.h"
#include "text/counted_text.h"
#include "text/tokenizer.h"

namespace cloze::cli {

// The largest share of [UNK] among the tokens of a text, unless --max-unknown-tokens says another.
inline constexpr double kMaxUnknownPercent = 20;

// "北 (12), x (3)"
std::string listed(std::span<const text::CountedText> texts);

// --max-unknown-tokens, the same in every command that has it.
void add_unknown_limit(OptionTable& table, double& max_unknown_percent);

// Reports on a sample of the text on standard error. UserError when more than `max_unknown_percent`
// of its tokens are [UNK]. Keeps a reference to the tokenizer.
data::TextExamination cut_report(data::TextFormat format, const text::Tokenizer& tokenizer,
                                 double max_unknown_percent);

// Reports only what is stripped.
void report_stripped(const data::TextSample& sample, const text::Tokenizer& tokenizer);

}  // namespace cloze::cli
