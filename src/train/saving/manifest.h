// manifest.json of a checkpoint: which files it has, their sizes and CRC32C. Written last, it says
// that the checkpoint is whole.
//
//   {"schema": "cloze.checkpoint", "version": 2, "step": S,
//    "files": [{"name": "model.safetensors", "bytes": B, "crc32c": "8 hex digits"}, ...],
//    "crc32c": "8 hex digits"}      of the text without this line; version 1 lacks it
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace cloze::train {

inline constexpr const char* kManifestName = "manifest.json";

// Describes every file of the folder and writes the manifest beside them, durably.
void write_manifest(const std::filesystem::path& folder, int64_t step);

// What is wrong with the folder, in words, or nothing: the manifest must be as it was written, each
// file of its size and checksum. The file `unread`, which the caller does not need, is not looked at.
std::optional<std::string> find_damage(const std::filesystem::path& folder,
                                       std::string_view unread = "");

}  // namespace cloze::train
