#include "cli/data/creation_display.h"

#include <fmt/format.h>

#include "cli/work_display.h"

namespace cloze::cli {

std::string describe_dumps(const data::WikipediaProgress& progress, double seconds) {
  return fmt::format(
      "{}, {} articles",
      describe_bytes(static_cast<double>(progress.bytes), static_cast<double>(progress.total_bytes),
                     seconds, static_cast<double>(progress.bytes_before)),
      progress.articles.load());
}

std::string describe_tokenising(const data::CreationProgress& progress, double seconds) {
  if (progress.total_text_bytes == 0 && progress.dumps.total_bytes > 0) {
    return describe_dumps(progress.dumps, seconds);
  }
  return "tokenising " + describe_bytes(static_cast<double>(progress.text_bytes),
                                        static_cast<double>(progress.total_text_bytes), seconds,
                                        static_cast<double>(progress.text_bytes_before));
}

data::TokenStoreBuilt build_with_display(const data::TokenStoreOptions& options,
                                         const text::Tokenizer& tokenizer) {
  data::CreationProgress progress;
  const WorkDisplay display([&](double seconds) { return describe_tokenising(progress, seconds); });
  return data::build_token_store(options, tokenizer, progress);
}

}  // namespace cloze::cli
