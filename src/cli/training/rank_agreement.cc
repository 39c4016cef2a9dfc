#include "cli/training/rank_agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/console/version.h"
#include "cli/run/resolved_run.h"
#include "engine/devices.h"
#include "formats/json.h"
#include "formats/model_tensors.h"
#include "formats/xxh3.h"
#include "platform/files/file.h"
#include "train/saving/manifest.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;

// The files of a folder; otherwise all files whose names begin with the path's: TensorFlow's
// "bert_model.ckpt" is several files. An index, "model.safetensors.index.json", stands for all
// files that begin with its first word, including its shards.
std::vector<fs::path> files_of(const fs::path& path) {
  std::vector<fs::path> files;
  const bool is_folder = fs::is_directory(path);
  const fs::path folder = is_folder ? path : fs::absolute(path).parent_path();
  std::string beginning = is_folder ? "" : path.filename().string();
  if (formats::is_shard_index(beginning)) beginning.resize(beginning.find('.'));
  for (const auto& entry : fs::directory_iterator(folder)) {
    const bool is_of_it = entry.path().filename().string().starts_with(beginning);
    if (is_of_it && entry.is_regular_file()) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

std::string digest_of(const std::vector<fs::path>& files) {
  formats::Xxh3Digest digest;
  for (const fs::path& file : files) {
    platform::read_in_pieces(file, [&](std::span<const std::byte> piece) {
      digest.update({reinterpret_cast<const char*>(piece.data()), piece.size()});
    });
  }
  return digest.hex();
}

// The digest of the manifest is enough: it has the checksums of all files.
std::string name_of(const train::FoundCheckpoint& checkpoint) {
  return fmt::format("{} {}", checkpoint.path.filename().string(),
                     digest_of({checkpoint.path / train::kManifestName}));
}

}  // namespace

void require_same(comm::Communicator& ranks, const formats::Json& values) {
  const std::vector<std::string> all = ranks.all_gather(values.dump());
  for (size_t rank = 1; rank < all.size(); ++rank) {
    const std::string differences = formats::value_differences(formats::Json::parse(all.front()),
                                                               formats::Json::parse(all[rank]),
                                                               fmt::format("rank {} has", rank));
    if (!differences.empty()) {
      throw_user_error("the first rank has {}; start all ranks the same way", differences);
    }
  }
}

formats::Json start_of(const OptionTable& table) {
  formats::Json values = table.values();
  require_storable(values);
  values.erase("threads");
  values["build"] = build_text();
  return values;
}

formats::Json contents_of(const train::TrainingOptions& run) {
  formats::Json values{{"data", run.dataset->fingerprint()},
                       {"instruction_set",
                        engine::device_named(run.step.compile.device).backend().instruction_set()}};
  if (run.evaluation_set) values["data to evaluate on"] = run.evaluation_set->fingerprint();
  if (run.restore_from) values["the newest checkpoint"] = name_of(*run.restore_from);
  if (!run.init_checkpoint.empty()) {
    values["init_checkpoint"] = digest_of(files_of(run.init_checkpoint));
  }
  return values;
}

}  // namespace cloze::cli
