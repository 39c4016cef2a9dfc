// What the commands that infer have in common.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/subcommand.h"
#include "inference/compiled_model.h"

namespace cloze::cli {

inline constexpr const char* kModelHelp =
    "model's folder or file, prefix of a TensorFlow checkpoint, or folder of checkpoints (its "
    "best, or newest)";
inline constexpr const char* kInitCheckpointHelp =
    "Compiled model, model's folder or file, prefix of a TensorFlow checkpoint, or folder of "
    "checkpoints (its best, or newest)";

// The path itself when it is a model (a folder with a configuration, a file of weights, the prefix
// of a TensorFlow checkpoint), else the checkpoint of TensorFlow's in the folder; or of ours the
// best, where the run was evaluated, else the newest. UserError when there is none, DataError when
// the best is damaged.
std::filesystem::path model_path(const std::filesystem::path& path);

// Says on standard error when a text is not all UTF-8: the tokenizer leaves such bytes out.
void note_invalid_utf8(std::string_view text, std::string_view source);
// The lines of standard input; those that are not all UTF-8 are noted.
std::vector<std::string> input_lines();

// --device, into `device`, and --instruction-set: what of the processor to use.
void add_device_options(Subcommand& command, std::string& device);

// How weights are packed, and for which device: --precision and those of add_device_options().
struct CompileFlags {
  std::string device = "cpu";
  std::string precision = "f32";
};
std::vector<OptionHandle> add_compile_flags(Subcommand& command, CompileFlags& flags);
// UserError for another precision than f32 and bf16, and for what does not go together.
inference::CompileOptions compile_options(const CompileFlags& flags);

// The model as it was trained. UserError for one that is compiled already.
inference::PretrainedModel open_trained_model(const std::filesystem::path& path);
// That model compiled in memory. Says its notes on standard error.
inference::CompiledModel compile_model(inference::PretrainedModel model,
                                       const inference::CompileOptions& options);

// The model to infer with: a compiled model as it is; any other is compiled in memory. Says on
// standard error what memory it takes when so many threads (0: all processors) run a batch.
std::shared_ptr<const inference::CompiledModel> open_model(const std::filesystem::path& path,
                                                           int num_threads,
                                                           const std::string& device);

}  // namespace cloze::cli
