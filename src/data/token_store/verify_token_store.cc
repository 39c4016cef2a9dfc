#include "data/token_store/verify_token_store.h"

#include <mutex>

#include "base/error.h"
#include "data/token_store/token_store.h"
#include "platform/parallel_for.h"

namespace cloze::data {

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
      message = error.what();
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
