// The same samples in a file of every record format that data::RecordDataset reads.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

#include "data/sample.h"

namespace cloze::tests {

enum class RecordFormat { kPlain, kRemasked, kPackedTfRecord, kPackedBinary, kUnpackedBinary };

inline constexpr RecordFormat kAllRecordFormats[] = {
    RecordFormat::kPlain, RecordFormat::kRemasked, RecordFormat::kPackedTfRecord,
    RecordFormat::kPackedBinary, RecordFormat::kUnpackedBinary};

std::string_view name_of(RecordFormat format);

struct RecordSizes {
  int64_t sequence_length = 0;  // S
  int64_t max_predictions = 0;  // M
};

// Packs hold up to three samples that follow each other. No first token may be masked.
void write_records(const std::filesystem::path& path, std::span<const data::Sample> samples,
                   RecordFormat format, const RecordSizes& sizes);

}  // namespace cloze::tests
