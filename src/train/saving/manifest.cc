#include "train/saving/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "formats/crc32c.h"
#include "formats/json.h"
#include "platform/files/atomic_file.h"
#include "platform/files/file.h"

namespace cloze::train {
namespace {

namespace fs = std::filesystem;

constexpr const char* kManifestSchema = "cloze.checkpoint";
constexpr int kManifestVersion = 2;
constexpr int kManifestVersionWithoutChecksum = 1;
constexpr const char* kChecksum = "crc32c";

std::string checksum_text(uint32_t checksum) { return fmt::format("{:08x}", checksum); }

std::string checksum_of(const fs::path& path) {
  uint32_t checksum = 0;
  platform::read_in_pieces(
      path, [&](std::span<const std::byte> piece) { checksum = formats::crc32c(piece, checksum); });
  return checksum_text(checksum);
}

// The text of a manifest that has no checksum yet, with it.
std::string sealed_text(formats::Json manifest) {
  const std::string text = formats::json_text(manifest);
  manifest[kChecksum] = checksum_text(formats::crc32c(std::as_bytes(std::span(text))));
  return formats::json_text(manifest);
}

bool is_as_sealed(const std::string& text) {
  auto manifest = formats::Json::parse(text);
  manifest.erase(kChecksum);
  return sealed_text(std::move(manifest)) == text;
}

bool is_plain_part(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

// The name of a file, or of one in a folder. Names come from a file: one that leads out of the folder
// is not followed.
bool is_plain_name(std::string_view name) {
  const size_t end = name.find('/');
  if (end == std::string_view::npos) return is_plain_part(name);
  return is_plain_part(name.substr(0, end)) && is_plain_part(name.substr(end + 1));
}

std::optional<std::string> find_damage_of_file(const fs::path& folder, const formats::Json& file,
                                               std::string_view unread) {
  const std::string name = file.at("name").get<std::string>();
  if (!is_plain_name(name))
    return fmt::format("{} names a file elsewhere: {}", kManifestName, name);
  if (name == unread) return std::nullopt;
  std::error_code error;
  const uint64_t size = fs::file_size(folder / name, error);
  if (error) return fmt::format("{} is missing", name);
  const auto expected = file.at("bytes").get<uint64_t>();
  if (size != expected) return fmt::format("{} has {} bytes instead of {}", name, size, expected);
  if (checksum_of(folder / name) != file.at(kChecksum).get<std::string>()) {
    return fmt::format("the checksum of {} is wrong", name);
  }
  return std::nullopt;
}

}  // namespace

void write_manifest(const fs::path& folder, int64_t step) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) names.push_back(entry.path().lexically_relative(folder).string());
  }
  std::sort(names.begin(), names.end());
  formats::Json files = formats::Json::array();
  for (const std::string& name : names) {
    files.push_back({{"name", name},
                     {"bytes", fs::file_size(folder / name)},
                     {kChecksum, checksum_of(folder / name)}});
  }
  platform::write_file_atomically(folder / kManifestName,
                                  sealed_text({{"schema", kManifestSchema},
                                               {"version", kManifestVersion},
                                               {"step", step},
                                               {"files", files}}));
}

std::optional<std::string> find_damage(const fs::path& folder, std::string_view unread) {
  if (!fs::exists(folder / kManifestName)) return fmt::format("it has no {}", kManifestName);
  try {
    const formats::Json manifest = formats::read_json_file(folder / kManifestName);
    const formats::Json& version = manifest.at("version");
    if (manifest.at("schema") != kManifestSchema ||
        (version != kManifestVersion && version != kManifestVersionWithoutChecksum)) {
      return fmt::format("{} is of another version ({})", kManifestName, version.dump());
    }
    if (version == kManifestVersion && !is_as_sealed(platform::read_file(folder / kManifestName))) {
      return fmt::format("the checksum of {} is wrong", kManifestName);
    }
    for (const formats::Json& file : manifest.at("files")) {
      if (auto damage = find_damage_of_file(folder, file, unread)) return damage;
    }
  } catch (const formats::JsonError& error) {
    return fmt::format("{} lacks something: {}", kManifestName, error.what());
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return std::nullopt;
}

}  // namespace cloze::train
