#include "runner.h"

#include <algorithm>
#include <chrono>

namespace cloze_python {
namespace {

constexpr size_t kSmallestPart = 32;
constexpr double kSecondsOfPart = 0.5;

// The size of the next part, after one of `size` that took so long.
size_t next_size(size_t size, double seconds) {
  const double fitting = static_cast<double>(size) * kSecondsOfPart / std::max(seconds, 1e-6);
  return std::clamp(static_cast<size_t>(fitting), kSmallestPart, 16 * size);
}

cloze_runtime::Model opened(const std::filesystem::path& path) {
  const nb::gil_scoped_release others_run;
  return cloze_runtime::Model(path.string());
}

}  // namespace

Runner::Runner(const PathArgument& argument, int threads)
    : model_(opened(argument.path)), threads_(threads) {
  give_back(take());
}

std::unique_ptr<cloze_runtime::Client> Runner::take() {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return std::make_unique<cloze_runtime::Client>(model_, threads_);
  auto client = std::move(idle_.back());
  idle_.pop_back();
  return client;
}

void Runner::give_back(std::unique_ptr<cloze_runtime::Client> client) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(client));
}

void Runner::run(size_t count, const Body& body) {
  size_t part = kSmallestPart;
  for (size_t begin = 0; begin < count;) {
    const size_t end = std::min(count, begin + part);
    {
      const nb::gil_scoped_release others_run;
      auto client = take();
      const auto start = std::chrono::steady_clock::now();
      body(*client, begin, end);
      give_back(std::move(client));
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
      part = next_size(part, taken.count());
    }
    begin = end;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
}

}  // namespace cloze_python
