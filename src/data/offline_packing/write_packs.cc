#include "data/offline_packing/write_packs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/philox.h"
#include "data/records/packed_record.h"
#include "data/shuffle.h"
#include "platform/files/atomic_file.h"
#include "platform/files/folder.h"

namespace cloze::data {
namespace {

constexpr int64_t kPacksOfFile = 50'000;
constexpr int64_t kNothing = -1;  // padding
constexpr std::string_view kPackPrefix = "strategy_";

// Holds by length the samples that have it, and what fills slots that no sample does, shuffled.
using Bins = std::vector<std::vector<int64_t>>;

Bins bins_of(const Dataset& dataset, const HistogramPacking& packing, uint64_t seed) {
  Bins bins(static_cast<size_t>(packing.pack_tokens) + 1);
  for (int64_t i = 0; i < dataset.size(); ++i) {
    bins[dataset.sample(i, 0).input_ids.size()].push_back(i);
  }
  for (size_t length = 0; length < packing.padding.size(); ++length) {
    bins[length].insert(bins[length].end(), static_cast<size_t>(packing.padding[length]), kNothing);
  }
  for (size_t length = 0; length < bins.size(); ++length) {
    PhiloxStream random(seed, length);
    shuffle(bins[length], random);
  }
  return bins;
}

class PackWriter {
 public:
  PackWriter(const Dataset& dataset, const PackFiles& files, Bins bins)
      : dataset_(dataset), files_(files), bins_(std::move(bins)) {}

  void write(const PackStrategy& strategy) {
    if (std::ssize(strategy.lengths) > kSequencesPerPack) {
      throw_user_error("a pack of {} sequences; the form has room for {}: lower sequences_per_pack",
                       strategy.lengths.size(), kSequencesPerPack);
    }
    for (int64_t i = 0; i < strategy.count; ++i) {
      if (i % kPacksOfFile == 0) open(strategy, i / kPacksOfFile);
      std::vector<Sample> samples;
      for (const int32_t length : strategy.lengths) take(length, samples);
      if (samples.empty()) continue;  // all of it is padding
      open_->write(encode_pack(samples, files_.shape));
      ++written_.packs;
      written_.sequences += std::ssize(samples);
    }
  }

  // The files written so far are not a packing, and would be in the way of the next attempt.
  void remove_files() const {
    std::error_code ignored;
    for (const std::filesystem::path& file : whole_) std::filesystem::remove(file, ignored);
  }

  WrittenPacks finish() {
    CLOZE_CHECK(written_.sequences == dataset_.size(), "{} sequences", written_.sequences);
    commit();
    return written_;
  }

 private:
  void open(const PackStrategy& strategy, int64_t part) {
    commit();
    open_.emplace(files_.folder /
                  fmt::format("{}{}_part_{}", kPackPrefix, fmt::join(strategy.lengths, "_"), part));
    ++written_.files;
  }
  void commit() {
    if (!open_) return;
    open_->commit();
    whole_.push_back(open_->path());
    open_.reset();
  }

  void take(int32_t length, std::vector<Sample>& samples) {
    std::vector<int64_t>& bin = bins_[static_cast<size_t>(length)];
    CLOZE_CHECK(!bin.empty(), "no sequence of {} tokens is left", length);
    const int64_t index = bin.back();
    bin.pop_back();
    if (index != kNothing) samples.push_back(dataset_.sample(index, 0));
  }

  const Dataset& dataset_;
  const PackFiles& files_;
  Bins bins_;
  std::optional<platform::AtomicFile> open_;
  std::vector<std::filesystem::path> whole_;
  WrittenPacks written_;
};

}  // namespace

void check_has_no_packs(const std::filesystem::path& folder) {
  std::error_code not_there;
  for (const auto& entry : std::filesystem::directory_iterator(folder, not_there)) {
    if (!entry.path().filename().string().starts_with(kPackPrefix)) continue;
    throw_user_error(
        "{} is of an earlier packing; choose another folder, or remove its files {}* first",
        entry.path().string(), kPackPrefix);
  }
}

WrittenPacks write_packs(const Dataset& dataset, const HistogramPacking& packing,
                         const PackFiles& files) {
  check_has_no_packs(files.folder);
  platform::make_writable_directory(files.folder);
  PackWriter writer(dataset, files, bins_of(dataset, packing, files.seed));
  try {
    for (const PackStrategy& strategy : packing.strategies) writer.write(strategy);
    return writer.finish();
  } catch (...) {
    writer.remove_files();
    throw;
  }
}

}  // namespace cloze::data
