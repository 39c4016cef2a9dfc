#include "data/records/convert_records.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "data/output_files.h"
#include "formats/tfrecord.h"
#include "platform/files/file.h"
#include "platform/files/folder.h"
#include "platform/parallel_for.h"

namespace cloze::data {
namespace {

constexpr int64_t kRecordsPerRound = 8192;

// The outcome of one record.
struct Converted {
  std::vector<std::string> records;
  int64_t shortened = 0;
  int64_t tokens_taken = 0;
  std::optional<RecordDefect> defect;
};

// Says why the layout cannot hold the sample; empty when it can.
std::string misfit(const Sample& sample, const RecordLayout& layout) {
  const int64_t length = std::ssize(sample.input_ids);
  const int64_t predictions = std::ssize(sample.masked_positions);
  if (length > layout.sequence_length || predictions > layout.max_predictions) {
    return fmt::format("{} tokens and {} predictions do not fit records of {} and {}", length,
                       predictions, layout.sequence_length, layout.max_predictions);
  }
  if (layout.remask && slots_of(sample, layout) > layout.sequence_length) {
    return fmt::format(
        "{} tokens, all of them masked or special, take {} slots re-masked, for {} predictions; "
        "there are {}",
        length, slots_of(sample, layout), layout.max_predictions, layout.sequence_length);
  }
  return {};
}

// Returns why it cannot be.
std::string append_record(Sample sample, const RecordLayout& layout, Converted& converted) {
  if (std::ssize(sample.input_ids) <= layout.sequence_length && layout.remask) {
    const int64_t taken = make_slot_room(layout, sample);
    converted.shortened += taken > 0 ? 1 : 0;
    converted.tokens_taken += taken;
  }
  std::string reason = misfit(sample, layout);
  if (reason.empty()) converted.records.push_back(encode_record(sample, layout));
  return reason;
}

Converted convert(const RecordFile& file, int64_t record, const RecordLayout& layout) {
  Converted converted;
  auto samples = file.read(record);
  if (!samples) {
    converted.defect = file.defect_of(record, samples.error().message);
    return converted;
  }
  for (const Sample& sample : *samples) {
    if (const std::string reason = append_record(sample, layout, converted); !reason.empty()) {
      return {.records = {}, .defect = file.defect_of(record, reason)};
    }
  }
  return converted;
}

class RecordConverter {
 public:
  explicit RecordConverter(const ConvertOptions& options)
      : options_(options), sink_(options.output_files, options.layout.binary) {}

  void convert_file(const std::filesystem::path& path) {
    const auto file = open_record_file(path, options_.shape);
    for (int64_t begin = 0; begin < file->records(); begin += kRecordsPerRound) {
      const int64_t count = std::min(kRecordsPerRound, file->records() - begin);
      std::vector<Converted> round(static_cast<size_t>(count));
      platform::parallel_for(count, options_.threads, [&](int64_t i) {
        round[i] = convert(*file, begin + i, options_.layout);
      });
      for (Converted& converted : round) append(std::move(converted));
    }
    if (file->broken_end()) skip(*file->broken_end());
  }

  void convert_samples(const Dataset& dataset, ConvertProgress& progress) {
    for (int64_t begin = 0; begin < dataset.size(); begin += kRecordsPerRound) {
      const int64_t count = std::min(kRecordsPerRound, dataset.size() - begin);
      std::vector<Converted> round(static_cast<size_t>(count));
      platform::parallel_for(count, options_.threads, [&](int64_t i) {
        Sample sample = dataset.sample(begin + i, 0);
        if (sample.next_sentence_label < 0) return;
        const std::string reason = append_record(std::move(sample), options_.layout, round[i]);
        CLOZE_CHECK(reason.empty(), "sample {}: {}", begin + i, reason);
      });
      for (Converted& converted : round) append(std::move(converted));
      progress.bytes += count;
    }
  }

  ConvertCounts finish() {
    if (counts_.without_pair > 0 && counts_.samples == 0) {
      throw_user_error("none of the {} samples has the second part that records have a label for",
                       counts_.without_pair);
    }
    if (counts_.samples == 0) {
      throw_user_error("no record in the {} file(s) to convert", options_.files.size());
    }
    sink_.commit();
    return std::move(counts_);
  }

 private:
  void append(Converted converted) {
    if (converted.defect) return skip(std::move(*converted.defect));
    ++counts_.records;
    counts_.without_pair += converted.records.empty() ? 1 : 0;
    counts_.samples += std::ssize(converted.records);
    counts_.shortened += converted.shortened;
    counts_.tokens_taken += converted.tokens_taken;
    for (const std::string& record : converted.records) sink_.append(record);
  }

  void skip(RecordDefect defect) {
    if (!options_.skip_bad) {
      throw_data_error("{}; add --skip-bad to leave such records out", defect.text());
    }
    counts_.skipped.push_back(std::move(defect));
  }

  const ConvertOptions& options_;
  RecordSink sink_;
  ConvertCounts counts_;
};

}  // namespace

RecordSink::RecordSink(std::span<const std::filesystem::path> files, bool is_binary)
    : is_binary_(is_binary) {
  check_output_files(files);
  for (const std::filesystem::path& path : files) {
    if (path.has_parent_path()) platform::make_writable_directory(path.parent_path());
    files_.push_back(std::make_unique<platform::AtomicFile>(path));
  }
}

void RecordSink::append(std::string_view record) {
  platform::AtomicFile& file = *files_[next_];
  is_binary_ ? file.write(record)
             : file.write(formats::tfrecord_bytes(std::as_bytes(std::span(record))));
  next_ = (next_ + 1) % files_.size();
}

void RecordSink::commit() {
  for (const auto& file : files_) file->commit();
}

ConvertCounts convert_records(const ConvertOptions& options, ConvertProgress& progress) {
  for (const auto& path : options.files) {
    progress.total_bytes += platform::file_bytes(path);
  }
  RecordConverter converter(options);
  for (const auto& path : options.files) {
    converter.convert_file(path);
    progress.bytes += platform::file_bytes(path);
  }
  return converter.finish();
}

ConvertCounts convert_dataset(const Dataset& dataset, const ConvertOptions& options,
                              ConvertProgress& progress) {
  progress.total_bytes = dataset.size();
  RecordConverter converter(options);
  converter.convert_samples(dataset, progress);
  return converter.finish();
}

}  // namespace cloze::data
