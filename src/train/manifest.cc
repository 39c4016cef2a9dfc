#include "train/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "formats/crc32c.h"
#include "formats/json.h"
#include "platform/file.h"

namespace cloze::train {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSchema = "cloze.checkpoint";
constexpr int kVersion = 1;

std::string checksum_of(const fs::path& path) {
  uint32_t checksum = 0;
  platform::read_in_pieces(
      path, [&](std::span<const std::byte> piece) { checksum = formats::crc32c(piece, checksum); });
  return fmt::format("{:08x}", checksum);
}

// Names come from a file: one that leads out of the folder is not followed.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

std::optional<std::string> find_damage_of_file(const fs::path& folder, const nlohmann::json& file) {
  const std::string name = file.at("name").get<std::string>();
  if (!is_plain_name(name))
    return fmt::format("{} names a file elsewhere: {}", kManifestName, name);
  std::error_code error;
  const uint64_t size = fs::file_size(folder / name, error);
  if (error) return fmt::format("{} is missing", name);
  const auto expected = file.at("bytes").get<uint64_t>();
  if (size != expected) return fmt::format("{} has {} bytes instead of {}", name, size, expected);
  if (checksum_of(folder / name) != file.at("crc32c").get<std::string>()) {
    return fmt::format("the checksum of {} is wrong", name);
  }
  return std::nullopt;
}

}  // namespace

void write_manifest(const fs::path& folder, int64_t step) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  nlohmann::ordered_json files = nlohmann::ordered_json::array();
  for (const std::string& name : names) {
    files.push_back({{"name", name},
                     {"bytes", fs::file_size(folder / name)},
                     {"crc32c", checksum_of(folder / name)}});
  }
  const nlohmann::ordered_json manifest{
      {"schema", kSchema}, {"version", kVersion}, {"step", step}, {"files", std::move(files)}};
  platform::write_file_atomically(folder / kManifestName, formats::json_text(manifest));
}

std::optional<std::string> find_damage(const fs::path& folder) {
  if (!fs::exists(folder / kManifestName)) return fmt::format("it has no {}", kManifestName);
  try {
    const nlohmann::json manifest = formats::read_json_file(folder / kManifestName);
    if (manifest.at("schema") != kSchema || manifest.at("version") != kVersion) {
      return fmt::format("{} is of another version ({})", kManifestName,
                         manifest.at("version").dump());
    }
    for (const nlohmann::json& file : manifest.at("files")) {
      if (auto damage = find_damage_of_file(folder, file)) return damage;
    }
  } catch (const nlohmann::json::exception& error) {
    return fmt::format("{} lacks something: {}", kManifestName, error.what());
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return std::nullopt;
}

}  // namespace cloze::train
