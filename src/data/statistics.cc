#include "data/statistics.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <vector>

#include "platform/parallel_for.h"

namespace cloze::data {
namespace {

constexpr int64_t kRecordsPerTask = 4096;

struct Counts {
  DatasetStatistics totals;
  std::vector<int64_t> labels;  // how often each id is a label

  void add(const Sample& sample) {
    totals.records += 1;
    totals.lengths.add(std::ssize(sample.input_ids));
    totals.predictions += static_cast<int64_t>(sample.masked_labels.size());
    totals.random_next += sample.next_sentence_label == 1 ? 1 : 0;
    for (int32_t label : sample.masked_labels) {
      const auto id = static_cast<size_t>(label);
      if (id >= labels.size()) labels.resize(id + 1);
      ++labels[id];
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
    labels.resize(std::max(labels.size(), other.labels.size()));
    for (size_t id = 0; id < other.labels.size(); ++id) labels[id] += other.labels[id];
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

DatasetStatistics measure(const Dataset& dataset, int threads) {
  Counts all;
  std::mutex mutex;
  const int64_t tasks = (dataset.size() + kRecordsPerTask - 1) / kRecordsPerTask;
  platform::parallel_for(tasks, threads, [&](int64_t task) {
    Counts part;
    const int64_t end = std::min(dataset.size(), (task + 1) * kRecordsPerTask);
    for (int64_t i = task * kRecordsPerTask; i < end; ++i) part.add(dataset.sample(i, 0));
    const std::lock_guard lock(mutex);
    all.add(part);
  });
  all.totals.unigram_entropy = entropy_of(all.labels, all.totals.predictions);
  return all.totals;
}

}  // namespace cloze::data
