// The report on a text that a command is about to cut: how much of it becomes [UNK], why, and what
// to do about it; and what is stripped from it. Text that a vocabulary hardly knows is refused.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options/option_table.h"
#include "data/corpus/text_sample.h"
#include "data/dataset.h"
#include "text/counted_text.h"
#include "text/tokenizer.h"

namespace cloze::cli {

// The largest share of [UNK] among the tokens of a text, unless --max-unknown-tokens says another.
inline constexpr double kMaxUnknownPercent = 20;

// Up to this share of the tokens, [UNK] is a trace that needs no note.
inline constexpr double kTraceOfUnknownPercent = 0.5;

// "北 (12), x (3)"
std::string listed(std::span<const text::CountedText> texts);

// --max-unknown-tokens, the same in every command that has it.
void add_unknown_limit(OptionTable& table, double& max_unknown_percent);

struct CutReport {
  double max_unknown_percent = kMaxUnknownPercent;
  std::string source = {};  // what the first line begins with: a file; empty: nothing
  // Helps against [UNK] where no other rule of the tokenizer does.
  std::string cure =
      "give the vocabulary that was made for this text, or make one: cloze data vocabulary";
  std::string to_keep_accents = "make the vocabulary with --strip-accents false";
};

// Reports on a text on standard error. UserError when more than max_unknown_percent of its tokens
// are [UNK].
void report_cut(const data::TextSample& sample, const text::Tokenizer& tokenizer,
                const CutReport& how);

// The same of data whose text was cut before: of samples with ids, where `unknown_id` is that of
// [UNK]; nothing when it is -1.
void report_ids(const data::Dataset& dataset, int32_t unknown_id, const CutReport& how);

// Returns report_cut() in the form in which readers of text files take it. Keeps a reference to the
// tokenizer.
data::TextExamination cut_report(const text::Tokenizer& tokenizer, double max_unknown_percent);

// Texts that are in memory, to report on: all of up to 4 MiB, else texts at equal distances.
data::TextSample sample_of(std::span<const std::string_view> texts);

// Reports only what is stripped.
void report_stripped(const data::TextSample& sample, const text::Tokenizer& tokenizer);

}  // namespace cloze::cli
