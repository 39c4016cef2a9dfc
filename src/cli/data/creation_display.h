// How far the reading and tokenising of text has come.
#pragma once

#include <string>

#include "data/token_store/build_token_store.h"
#include "data/wikipedia/wikipedia_text.h"

namespace cloze::cli {

// "41 % of 104.3 MB, 11.8 MB/s, 5 s left, 1234 articles"
std::string describe_dumps(const data::WikipediaProgress& progress, double seconds);

// That while dumps are read, then "tokenising 41 % of 104.3 MB, 11.8 MB/s, 5 s left".
std::string describe_tokenising(const data::CreationProgress& progress, double seconds);

// Builds a store and shows on standard error how far it is.
data::TokenStoreBuilt build_with_display(const data::TokenStoreOptions& options,
                                         const text::Tokenizer& tokenizer);

}  // namespace cloze::cli
