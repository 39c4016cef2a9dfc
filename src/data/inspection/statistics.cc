#include "data/inspection/statistics.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include "base/division.h"
#include "data/id_count.h"
#include "platform/parallel_for.h"

namespace cloze::data {
namespace {

constexpr int64_t kRecordsPerTask = 4096;

class Counts {
 public:
  DatasetStatistics totals;
  std::map<int32_t, int64_t> labels;        // how often each id is a label
  std::map<int32_t, int64_t> replacements;  // how often each id stands in the place of another

  void add(const Sample& sample, int32_t unknown_id) {
    if (unknown_id >= 0) totals.unknown += std::ranges::count(unmasked_ids(sample), unknown_id);
    totals.records += 1;
    totals.lengths.add(std::ssize(sample.input_ids));
    totals.predictions += static_cast<int64_t>(sample.masked_labels.size());
    totals.random_next += sample.next_sentence_label == 1 ? 1 : 0;
    for (size_t m = 0; m < sample.masked_labels.size(); ++m) {
      const int32_t label = sample.masked_labels[m];
      const int32_t id = sample.input_ids[sample.masked_positions[m]];
      ++labels[label];
      if (id == label) {
        ++totals.masked_unchanged;
      } else {
        ++replacements[id];
      }
    }
  }

  void add(const Counts& other) {
    totals.records += other.totals.records;
    const std::vector<int64_t>& lengths = other.totals.lengths.counts;
    for (int64_t length = 1; length < std::ssize(lengths); ++length) {
      totals.lengths.add(length, lengths[length]);
    }
    totals.predictions += other.totals.predictions;
    totals.random_next += other.totals.random_next;
    totals.masked_unchanged += other.totals.masked_unchanged;
    totals.unknown += other.totals.unknown;
    for (const auto& [id, count] : other.labels) labels[id] += count;
    for (const auto& [id, count] : other.replacements) replacements[id] += count;
  }

  void find_mask() {
    const auto most =
        std::ranges::max_element(replacements, {}, [](const auto& one) { return one.second; });
    if (most == replacements.end()) return;
    totals.mask_id = most->first;
    totals.masked_by_mask = most->second;
  }
};

double entropy_of(const std::map<int32_t, int64_t>& counts, int64_t total) {
  double entropy = 0;
  for (const auto& [id, count] : counts) {
    const double share = static_cast<double>(count) / static_cast<double>(total);
    entropy -= share * std::log(share);
  }
  return entropy;
}

}  // namespace

DatasetStatistics measure(const Dataset& dataset, int threads,
                          const std::function<void(int64_t)>& progress, int32_t unknown_id) {
  Counts all;
  std::mutex mutex;
  const int64_t tasks = divide_up(dataset.size(), kRecordsPerTask);
  platform::parallel_for(tasks, threads, [&](int64_t task) {
    Counts part;
    const int64_t end = std::min(dataset.size(), (task + 1) * kRecordsPerTask);
    for (int64_t i = task * kRecordsPerTask; i < end; ++i) {
      part.add(dataset.sample(i, 0), unknown_id);
    }
    const std::lock_guard lock(mutex);
    all.add(part);
    progress(all.totals.records);
  });
  all.find_mask();
  all.totals.unigram_entropy = entropy_of(all.labels, all.totals.predictions);
  return all.totals;
}

}  // namespace cloze::data
