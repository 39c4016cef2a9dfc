// What the commands that infer have in common.
#pragma once

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/options/machine_options.h"
#include "formats/json.h"
#include "inference/packed_model.h"
#include "tasks/truncation.h"
#include "tasks/unknown_tokens.h"

namespace cloze::cli {

inline constexpr const char* kModelHelp =
    "model's folder or file, prefix of a TensorFlow checkpoint, or folder of checkpoints (its "
    "best, or newest)";
// Returns the path itself when it is a model (a folder with a configuration, a file of weights, the
// prefix of a TensorFlow checkpoint). Otherwise it finds a checkpoint in the folder: TensorFlow's,
// or of ours the best when the run was evaluated, else the newest. Newer ones that are damaged are
// noted on standard error. UserError when there is none, DataError when the best is damaged.
std::filesystem::path model_path(const std::filesystem::path& path);

// Says on standard error when a text is not all UTF-8: the tokenizer leaves such bytes out.
void note_invalid_utf8(std::string_view text, std::string_view source);
// Likewise of each of the texts that --text gave.
void note_invalid_texts(const std::vector<std::string>& texts);
// The lines of a file, or of standard input when none is named. What is not all UTF-8 is noted.
std::vector<std::string> input_lines(const std::string& file = {});
// Many texts are answered in portions, so that only one has its tokens and results in memory.
template <typename Text>
void for_each_portion(std::span<const Text> texts,
                      const std::function<void(std::span<const Text>)>& answer) {
  constexpr size_t kTextsAtOnce = 1024;
  while (!texts.empty()) {
    const std::span<const Text> portion = texts.first(std::min(kTextsAtOnce, texts.size()));
    answer(portion);
    texts = texts.subspan(portion.size());
  }
}
// Says on standard error how many inputs were too long for the model, and what became of the
// longest.
class TruncationNote {
 public:
  explicit TruncationNote(std::string what) : what_(std::move(what)) {}  // "question"
  void count(const tasks::Truncation& truncation);
  void print() const;

 private:
  std::string what_;
  int64_t inputs_ = 0, cut_ = 0;
  tasks::Truncation longest_;  // of those that were cut
};
// Says on standard error in how many inputs more than a trace is [UNK], for what, and which share
// of all tokens that is.
class UnknownNote {
 public:
  explicit UnknownNote(std::string what) : what_(std::move(what)) {}  // "text"
  void count(const tasks::UnknownTokens& input);
  void print() const;

 private:
  std::string what_;
  int64_t inputs_ = 0, with_unknown_ = 0;
  int64_t tokens_ = 0, unknown_ = 0;
  std::map<std::string, int64_t> causes_;
};
// The objects of a file, one a line, each of which has these members, as texts; it may have the
// optional ones, and others as well (an id). Blank lines are skipped. DataError that names file and
// line when an object lacks one; UserError when the file is empty.
std::vector<formats::Json> read_json_lines(const std::filesystem::path& path,
                                           const std::vector<std::string>& texts,
                                           const std::vector<std::string>& optional_texts = {});

// The model to infer with and what computes it.
struct ModelOptions {
  std::filesystem::path checkpoint;
  inference::PackOptions compile;
  std::string instruction_set = kAnyInstructionSet;
};
// --init-checkpoint, --threads into `num_threads` (0: all), --device and --instruction-set.
void add_model_options(OptionTable& table, ModelOptions& options, int& num_threads);
void add_device_options(OptionTable& table, ModelOptions& options);
// Packing on the machine that the options choose. Says which card it is, and limits
// the instruction set.
inference::PackOptions on_chosen_machine(const ModelOptions& options);
// How weights are packed. What may not be given beside them is named in `excludes`.
void add_packing_options(OptionTable& table, inference::PackOptions& options,
                         const std::vector<std::string>& excludes = {});

// UserError for a model that is packed already.
void require_trained(const std::filesystem::path& path);
// The model as it was trained. UserError for one that is packed already.
inference::PretrainedModel open_trained_model(const std::filesystem::path& path);
// That model packed in memory. Says its notes on standard error.
inference::PackedModel compile_model(inference::PretrainedModel model,
                                     const inference::PackOptions& options);

// The model to infer with, on no more than its instruction set: a packed model as it is; any
// other is packed in memory. Says on standard error what memory it takes when so many threads (0:
// all processors) run a batch.
std::shared_ptr<const inference::PackedModel> open_model(const ModelOptions& options,
                                                         int num_threads);
// Opens its encoder alone (inference/packed_model.h). UserError for a packed model of another
// head, or where a mode of pooling is given for a packed one.
std::shared_ptr<const inference::PackedModel> open_encoder(const ModelOptions& options,
                                                           std::optional<ops::PoolingMode> pooling,
                                                           int num_threads);

}  // namespace cloze::cli
