// A model written as Hugging Face's folders have it: one model.safetensors, or, when it is larger
// than a shard may be, several files and an index that says where each tensor lies:
//
//   model-00001-of-00003.safetensors ...
//   model.safetensors.index.json    {"metadata": {"total_size": BYTES}, "weight_map": {NAME: FILE}}
//
// Source: huggingface_hub serialization (split_state_dict_into_shards_factory).
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/safetensors.h"

namespace cloze::formats {

// Tensors fill a shard in their order until the next would exceed `max_bytes`; one that is larger
// alone has a shard to itself. 0: never sharded. Each file is written whole or not at all, the
// index last. Returns the files' names.
std::vector<std::string> write_model_folder(const std::filesystem::path& folder,
                                            std::span<const TensorView> tensors,
                                            uint64_t max_bytes);

// "500MB", "5GB", "2GiB", "1000" → bytes. UserError for anything else.
uint64_t shard_bytes(std::string_view text);

}  // namespace cloze::formats
