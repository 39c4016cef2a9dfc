#include "text/table_rows.h"

#include <fmt/format.h>

#include "base/error.h"

namespace cloze::text {

std::optional<std::string> missing_rows(const Vocabulary& vocabulary, int64_t rows,
                                        std::string_view source) {
  const int64_t tokens = vocabulary.size();
  if (tokens <= rows) return std::nullopt;
  if (tokens >= max_ids(rows)) {
    throw_user_error(
        "{} has {} tokens, the model's vocab_size is {}; they do not belong together: give the "
        "vocabulary that the model was trained with, or --vocab-size {} for a new model",
        source, tokens, rows, tokens);
  }
  for (const int32_t id : {vocabulary.pad_id(), vocabulary.unknown_id(), vocabulary.cls_id(),
                           vocabulary.sep_id(), vocabulary.mask_id()}) {
    if (id < rows) continue;
    throw_user_error(
        "{}: {} is token {}, but the model's vocab_size is {}; give the vocabulary that the model "
        "was trained with",
        source, vocabulary.token(id), id, rows);
  }
  return fmt::format("{} has {} tokens, the model {} rows: the last {} tokens are read as {}",
                     source, tokens, rows, tokens - rows, kUnknownToken);
}

}  // namespace cloze::text
