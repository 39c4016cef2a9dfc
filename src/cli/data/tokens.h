// `cloze data tokens`: text to a token store (data/token_store/build_token_store.h).
#pragma once

#include "cli/subcommand.h"
#include "data/token_store/build_token_store.h"

namespace cloze::cli {

void add_data_tokens(Subcommand parent);

// Builds a store and shows on standard error how far it is.
data::TokenStoreBuilt build_with_display(const data::TokenStoreOptions& options,
                                         const text::Tokenizer& tokenizer);

}  // namespace cloze::cli
