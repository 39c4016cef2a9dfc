// What the commands that infer have in common.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "cli/subcommand.h"
#include "inference/compiled_model.h"

namespace cloze::cli {

inline constexpr const char* kInitCheckpointHelp =
    "Hugging Face folder, compiled model, prefix of a TensorFlow checkpoint, or folder of "
    "checkpoints "
    "(the best, or the newest)";

// The path itself when it is a model (a Hugging Face folder, the prefix of a TensorFlow
// checkpoint), else the checkpoint of TensorFlow's in the folder; or of ours the best, where the
// run was evaluated, else the newest.
std::filesystem::path model_path(const std::filesystem::path& path);

// How weights are packed: --precision and --strassen.
struct CompileFlags {
  std::string precision = "f32";
  bool strassen = false;
};
void add_compile_flags(Subcommand& command, CompileFlags& flags);
// UserError for another precision than f32 and bf16, and for what does not go together.
inference::CompileOptions compile_options(const CompileFlags& flags);

// A model compiled in memory.
inference::CompiledModel compile_model(const std::filesystem::path& path,
                                       const inference::CompileOptions& options);

// The model to infer with: a compiled model as it is; any other is compiled in memory.
std::shared_ptr<const inference::CompiledModel> open_model(const std::filesystem::path& path);

}  // namespace cloze::cli
