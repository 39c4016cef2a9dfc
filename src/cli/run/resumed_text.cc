#include "cli/run/resumed_text.h"

#include <fmt/format.h>

#include "base/error.h"
#include "checkpoints/stored_tokenizer.h"
#include "cli/console/say.h"
#include "data/token_store/token_store.h"
#include "platform/files/input_paths.h"
#include "train/saving/checkpoint.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStoreName = "tokens";

}  // namespace

fs::path store_folder(const PretrainOptions& options) {
  if (options.input_file.empty()) return options.train_file;
  return options.store.folder.empty() ? options.training.save_path / kStoreName
                                      : options.store.folder;
}

bool is_text_gone(const PretrainOptions& options) {
  if (!options.training.restore_from || options.input_file.empty()) return false;
  try {
    platform::expand_paths(options.input_file);
    return false;
  } catch (const UserError&) {
    return true;
  }
}

std::string reason_not_to_read(const PretrainOptions& options) {
  const bool has_tokens =
      options.training.restore_from && data::is_token_store(store_folder(options));
  if (!has_tokens) return "";
  if (options.input_file == "-") return "standard input is not read again";
  return is_text_gone(options) ? fmt::format("the text {} is gone", options.input_file) : "";
}

void require_text(const PretrainOptions& options) {
  if (!is_text_gone(options)) return;
  const fs::path& run = options.training.restore_from->path;
  const fs::path earlier = train::run_folder_of(run) / kStoreName;
  if (data::is_token_store(earlier)) {
    throw_user_error("the text {} is gone, but {} has its tokens; add --train-file {}",
                     options.input_file, earlier.string(), earlier.string());
  }
  throw_user_error(
      "{} was trained on the text {}, which is gone, and so are its tokens, {}; bring one of them "
      "back, or say where the text is now: --input-file FILE",
      run.string(), options.input_file, store_folder(options).string());
}

void take_vocabulary_of_checkpoint(PretrainOptions& options, const OptionTable& table) {
  std::string& file = options.tokenizer.vocabulary_file;
  if (!options.training.restore_from || !table.comes_from_run("vocab_file") || file.empty()) return;
  const fs::path& checkpoint = options.training.restore_from->path;
  if (fs::exists(file) || !checkpoints::vocabulary_file_in(checkpoint)) return;
  say("note: vocab_file {} is gone; {} has the same tokens\n", file, checkpoint.string());
  file.clear();
}

}  // namespace cloze::cli
