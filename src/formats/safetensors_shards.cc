#include "formats/safetensors_shards.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "base/error.h"
#include "formats/json.h"
#include "platform/file.h"

namespace cloze::formats {
namespace {

std::vector<std::span<const TensorView>> shards_of(std::span<const TensorView> tensors,
                                                   uint64_t max_bytes) {
  std::vector<std::span<const TensorView>> shards;
  size_t begin = 0;
  uint64_t bytes = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const uint64_t size = tensors[i].bytes.size();
    if (max_bytes > 0 && i > begin && bytes + size > max_bytes) {
      shards.push_back(tensors.subspan(begin, i - begin));
      begin = i;
      bytes = 0;
    }
    bytes += size;
  }
  shards.push_back(tensors.subspan(begin));
  return shards;
}

}  // namespace

std::vector<std::string> write_model_folder(const std::filesystem::path& folder,
                                            std::span<const TensorView> tensors,
                                            uint64_t max_bytes) {
  const auto shards = shards_of(tensors, max_bytes);
  if (shards.size() == 1) {
    write_safetensors(folder / "model.safetensors", tensors);
    return {"model.safetensors"};
  }
  std::vector<std::string> files;
  nlohmann::ordered_json index;
  uint64_t total = 0;
  for (const auto& shard : shards) {
    files.push_back(
        fmt::format("model-{:05}-of-{:05}.safetensors", files.size() + 1, shards.size()));
    write_safetensors(folder / files.back(), shard);
    for (const TensorView& tensor : shard) total += tensor.bytes.size();
  }
  index["metadata"]["total_size"] = total;
  for (size_t i = 0; i < shards.size(); ++i) {
    for (const TensorView& tensor : shards[i]) index["weight_map"][tensor.name] = files[i];
  }
  files.push_back("model.safetensors.index.json");
  platform::write_file_atomically(folder / files.back(), json_text(index));
  return files;
}

uint64_t shard_bytes(std::string_view text) {
  constexpr std::pair<std::string_view, uint64_t> kUnits[] = {
      {"", 1},          {"KB", 1'000},    {"MB", 1'000'000}, {"GB", 1'000'000'000},
      {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  for (const auto& [name, bytes] : kUnits) {
    uint64_t product = 0;
    if (error != std::errc() || name != unit || number == 0) continue;
    if (!__builtin_mul_overflow(number, bytes, &product)) return product;
  }
  throw_user_error("\"{}\" is not the size of a shard; give one such as 500MB or 5GB", text);
}

}  // namespace cloze::formats
