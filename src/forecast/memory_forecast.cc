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

void MemoryForecast::add_to_device(std::string_view what, int64_t bytes, int64_t beside_on_host) {
  const bool has_card = card_bytes_.has_value();
  parts_.push_back({what, beside_on_host + (has_card ? 0 : bytes), has_card ? bytes : 0});
}

void MemoryForecast::add_inference(const inference::InferenceMemory& memory) {
  // Code that has not run yet, and memory that the allocator keeps: 2 to 3 MiB, measured.
  constexpr int64_t kFirstBatchBytes = 2 << 20;
  add_to_device("weights", memory.weights_bytes);
  add_to_device("a batch", std::max(memory.batch_bytes, memory.loading_bytes));
  add("what the first batch alone takes", kFirstBatchBytes);
}

int64_t MemoryForecast::peak_bytes() const {
  int64_t sum = 0;
  for (const Part& part : parts_) sum += part.bytes;
  return std::max(sum, earlier_peak_);
}

int64_t MemoryForecast::card_bytes() const {
  int64_t sum = 0;
  for (const Part& part : parts_) sum += part.on_card;
  return sum;
}

std::string MemoryForecast::table() const {
  constexpr const char* kRow = "{:<36} {:>12.1f} {:>12.1f}\n";
  std::string text = fmt::format("{:<36} {:>12} {:>12}\n", "memory, MiB", "card", "host");
  for (const Part& part : parts_) {
    text += fmt::format(kRow, part.what, mebibytes(part.on_card), mebibytes(part.bytes));
  }
  text += fmt::format(kRow, "all, about", mebibytes(card_bytes()), mebibytes(peak_bytes()));
  return text + fmt::format("the card has {:.1f} MiB", mebibytes(*card_bytes_));
}

std::string MemoryForecast::text() const {
  if (card_bytes_) return table();
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
