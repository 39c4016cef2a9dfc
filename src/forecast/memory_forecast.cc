#include "forecast/memory_forecast.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/byte_size.h"
#include "platform/memory.h"

namespace cloze::forecast {

MemoryForecast::MemoryForecast(int64_t known_bytes)
    : earlier_peak_(platform::peak_resident_bytes()),
      earlier_files_(platform::resident_file_bytes()),
      parts_{{"the program and its data", platform::resident_bytes() - known_bytes}} {}

void MemoryForecast::add(std::string_view what, int64_t bytes) { parts_.push_back({what, bytes}); }

void MemoryForecast::add_inference(const inference::InferenceMemory& memory) {
  // Code that has not run yet, and memory that the allocator keeps: 2 to 3 MiB, measured.
  constexpr int64_t kFirstBatchBytes = 2 << 20;
  add("weights", memory.weights_bytes);
  add("a batch", std::max(memory.batch_bytes, memory.loading_bytes));
  add("what the first batch alone takes", kFirstBatchBytes);
}

int64_t MemoryForecast::peak_bytes() const {
  int64_t sum = 0;
  for (const Part& part : parts_) sum += part.bytes;
  return std::max(sum, earlier_peak_);
}

std::string MemoryForecast::text() const {
  std::string text = fmt::format("memory: about {:.1f} MiB", mebibytes(peak_bytes()));
  for (const Part& part : parts_) {
    const bool is_first = &part == &parts_.front();
    text += fmt::format("{} {:.1f} for {}", is_first ? ":" : ",", mebibytes(part.bytes), part.what);
  }
  return text;
}

std::string MemoryForecast::outcome() const {
  const int64_t peak = platform::peak_resident_bytes();
  std::string text = fmt::format("memory: {:.1f} MiB at the peak, {:.1f} MiB planned",
                                 mebibytes(peak), mebibytes(peak_bytes()));
  const double files = mebibytes(platform::resident_file_bytes() - earlier_files_);
  if (peak > peak_bytes() && files >= 1.0) {
    text +=
        fmt::format(", {:.1f} MiB of files that the system takes back when it needs them", files);
  }
  return text;
}

}  // namespace cloze::forecast
