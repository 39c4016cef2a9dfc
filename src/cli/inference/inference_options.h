// What the commands that infer have in common.
#pragma once

#include <filesystem>
#include <string>

#include "base/dtype.h"

namespace cloze::cli {

inline constexpr const char* kInitCheckpointHelp =
    "Hugging Face folder, prefix of a TensorFlow checkpoint, or folder of checkpoints (the best, "
    "or "
    "the newest)";

// The path itself when it is a model (a Hugging Face folder, the prefix of a TensorFlow
// checkpoint), else the checkpoint of TensorFlow's in the folder; or of ours the best, where the
// run was evaluated, else the newest.
std::filesystem::path model_path(const std::filesystem::path& path);

// --precision, what weights are stored in: "f32" or "bf16"; UserError for others.
DType precision_named(const std::string& name);

}  // namespace cloze::cli
