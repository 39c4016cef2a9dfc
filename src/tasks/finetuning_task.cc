#include "tasks/finetuning_task.h"

#include <fmt/format.h>

namespace cloze::tasks {

void note_rowless(const text::Tokenizer& tokenizer, const std::string& file,
                  const std::vector<std::string_view>& texts, const TaskOutput& output) {
  if (!tokenizer.lacks_rows()) return;
  text::TokenCount all;
  for (const std::string_view text : texts) {
    const text::TokenCount count = tokenizer.count(text);
    all.tokens += count.tokens;
    all.rowless += count.rowless;
  }
  output.notice(
      fmt::format("note: {}: {} of {} tokens have no row in the model and are read as [UNK]", file,
                  all.rowless, all.tokens));
}

}  // namespace cloze::tasks
