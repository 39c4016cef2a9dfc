// Where a vocabulary meets a model. The model's table of word embeddings has rows for the ids below
// its vocab_size. The published pair of Graphcore's programs has 30,522 tokens and 30,400 rows: a
// token whose id has no row is read as [UNK]. Rows without a token are fine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "text/vocabulary.h"

namespace cloze::text {

// Ids that data for a table of so many rows may hold. Whoever has twice the rows or more has data
// of another model.
inline constexpr int64_t max_ids(int64_t rows) { return 2 * rows; }

// A sentence on the tokens that have no row; nothing when all have one. `source` is what messages
// call the vocabulary. UserError when a special token has no row, or half of the tokens have none.
std::optional<std::string> missing_rows(const Vocabulary& vocabulary, int64_t rows,
                                        std::string_view source);

}  // namespace cloze::text
