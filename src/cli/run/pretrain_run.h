// The resolved options of `cloze pretrain` and `cloze plan`.
#pragma once

#include <cstdint>
#include <optional>

#include "cli/run/pretrain_options.h"
#include "cli/run/resolved_run.h"
#include "comm/communicator.h"
#include "text/stated_rules.h"

namespace cloze::cli {

struct PretrainRun : ResolvedRun {
  explicit PretrainRun(const PretrainOptions& options);

  const PretrainOptions& options;  // ResolvedRun has the same, as those of any command
  // The rules of a tokenizer that the options state for data which are already cut.
  text::StatedRules stated_rules;
};

// After OptionTable::resolve(): takes the values of the run to resume, drops what other options
// override, reads the start model's shape, and adds what the ranks are. Then checks everything, and
// prints notes. UserError for what cannot be run.
PretrainRun resolve(PretrainOptions& options, OptionTable& table, comm::Communicator& ranks);

// Checks what depends on several options. UserError that names them and their values.
void validate(const PretrainRun& run);

// Adds what this rank is: replicas follow from the number of ranks. UserError for what
// several processes cannot do yet.
void take_rank(comm::Communicator& ranks, PretrainOptions& options, const OptionTable& table);

// A rule that the options state, where the text is cut by another.
struct OtherRule {
  const char* option;
  bool stated;
  bool there;
};
std::optional<OtherRule> other_rule(const text::StatedRules& stated,
                                    const text::TokenizerOptions& there);

// Prints notes on triggers that training ends before reaching, and on a schedule that ends before
// training does, as far as their steps are known by now.
void print_length_notes(const PretrainRun& run, std::optional<int64_t> scheduled,
                        std::optional<int64_t> trained);

}  // namespace cloze::cli
