#include "data/statistics.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <vector>

#include "base/division.h"
#include "platform/parallel_for.h"

namespace cloze::data {
namespace {

constexpr int64_t kRecordsPerTask = 4096;

class Counts {
 public:
  DatasetStatistics totals;
  std::vector<int64_t> labels;        // how often each id is a label
  std::vector<int64_t> replacements;  // how often each id stands in the place of another

  void add(const Sample& sample) {
    totals.records += 1;
    totals.lengths.add(std::ssize(sample.input_ids));
    totals.predictions += static_cast<int64_t>(sample.masked_labels.size());
    totals.random_next += sample.next_sentence_label == 1 ? 1 : 0;
    for (size_t m = 0; m < sample.masked_labels.size(); ++m) {
      const int32_t label = sample.masked_labels[m];
      const int32_t id = sample.input_ids[sample.masked_positions[m]];
      count(label, labels);
      if (id == label) {
        ++totals.masked_unchanged;
      } else {
        count(id, replacements);
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
    add_counts(other.labels, labels);
    add_counts(other.replacements, replacements);
  }

  void find_mask() {
    const auto most = std::max_element(replacements.begin(), replacements.end());
    if (most == replacements.end()) return;
    totals.mask_id = static_cast<int32_t>(most - replacements.begin());
    totals.masked_by_mask = *most;
  }

 private:
  static void count(int32_t id, std::vector<int64_t>& counts) {
    const auto place = static_cast<size_t>(id);
    if (place >= counts.size()) counts.resize(place + 1);
    ++counts[place];
  }
  static void add_counts(const std::vector<int64_t>& from, std::vector<int64_t>& to) {
    to.resize(std::max(to.size(), from.size()));
    for (size_t id = 0; id < from.size(); ++id) to[id] += from[id];
  }
};

double entropy_of(const std::vector<int64_t>& counts, int64_t total) {
  double entropy = 0;
  for (int64_t count : counts) {
    if (count == 0) continue;
    const double share = static_cast<double>(count) / static_cast<double>(total);
    entropy -= share * std::log(share);
  }
  return entropy;
}

}  // namespace

DatasetStatistics measure(const Dataset& dataset, int threads,
                          const std::function<void(int64_t)>& progress) {
  Counts all;
  std::mutex mutex;
  const int64_t tasks = divide_up(dataset.size(), kRecordsPerTask);
  platform::parallel_for(tasks, threads, [&](int64_t task) {
    Counts part;
    const int64_t end = std::min(dataset.size(), (task + 1) * kRecordsPerTask);
    for (int64_t i = task * kRecordsPerTask; i < end; ++i) part.add(dataset.sample(i, 0));
    const std::lock_guard lock(mutex);
    all.add(part);
    progress(all.totals.records);
  });
  all.find_mask();
  all.totals.unigram_entropy = entropy_of(all.labels, all.totals.predictions);
  return all.totals;
}

}  // namespace cloze::data
