#include "data/inspection/verification.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <string>
#include <string_view>

#include "base/error.h"
#include "data/token_store/token_store.h"
#include "platform/parallel_for.h"

namespace cloze::data {
namespace {

void verify_file(const RecordFile& file, int threads, Verification& result) {
  RecordSurvey survey = survey_records(file, threads);
  result.records += survey.good_records();
  result.bytes += file.bytes();
  std::move(survey.defects.begin(), survey.defects.end(), std::back_inserter(result.bad));
  if (file.broken_end()) {
    result.bad.push_back(*file.broken_end());
  } else if (file.records() == 0) {
    result.bad.push_back({file.path(), "byte 0", "the file holds no record"});
  }
}

// The part of an error after the path that it begins with: a defect names its file itself.
std::string without_path(const std::filesystem::path& path, std::string_view message) {
  if (message.starts_with(path.string())) message.remove_prefix(path.string().size());
  message.remove_prefix(std::min(message.find_first_not_of(": "), message.size()));
  return std::string(message);
}

}  // namespace

Verification verify_records(std::span<const std::filesystem::path> files, const RecordShape& shape,
                            int threads, const std::function<void(int64_t)>& progress) {
  Verification result;
  for (const std::filesystem::path& path : files) {
    ++result.files;
    try {
      verify_file(*open_record_file(path, shape), threads, result);
    } catch (const DataError& error) {
      result.bad.push_back({path, "byte 0", without_path(path, error.what())});
    }
    progress(result.bytes);
  }
  return result;
}

Verification verify_token_store(const std::filesystem::path& folder, int threads,
                                const std::function<void(int64_t)>& progress) {
  const TokenStore store(folder);
  Verification result{.files = std::ssize(store.shards())};
  std::mutex mutex;
  platform::parallel_for(result.files, threads, [&](int64_t i) {
    const TokenShard& shard = store.shards()[i];
    std::string message;
    try {
      shard.verify();
    } catch (const DataError& error) {
      message = without_path(shard.path(), error.what());
    }
    const std::lock_guard lock(mutex);
    result.bytes += static_cast<int64_t>(std::filesystem::file_size(shard.path()));
    if (message.empty()) {
      result.records += shard.header().documents;
    } else {
      result.bad.push_back({shard.path(), "shard " + std::to_string(i), message});
    }
    progress(result.bytes);
  });
  return result;
}

}  // namespace cloze::data
