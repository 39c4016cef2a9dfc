#include "platform/parallel_for.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/error.h"

namespace cloze::platform {

void parallel_for(int64_t count, int threads, const std::function<void(int64_t)>& body) {
  std::atomic<int64_t> next_item{0};
  std::exception_ptr first_error;
  std::mutex error_mutex;
  const auto work = [&] {
    for (int64_t item = next_item++; item < count; item = next_item++) {
      try {
        body(item);
      } catch (...) {
        next_item = count;
        const std::lock_guard lock(error_mutex);
        if (!first_error) first_error = std::current_exception();
      }
    }
  };
  std::vector<std::jthread> helpers;
  const int64_t wanted = std::min<int64_t>(threads, count);
  try {
    while (std::ssize(helpers) < wanted - 1) helpers.emplace_back(work);
  } catch (const std::system_error& error) {
    next_item = count;
    throw_environment_error("cannot start thread {} of {}: {}; choose fewer threads",
                            std::ssize(helpers) + 2, wanted, error.what());
  }
  work();
  helpers.clear();  // joins
  if (first_error) std::rethrow_exception(first_error);
}

}  // namespace cloze::platform
