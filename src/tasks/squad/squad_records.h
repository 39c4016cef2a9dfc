// SQuAD features as TFRecord, in the layout of Google's and Graphcore's caches: every list padded
// to S, ids counted from 1,000,000,000.
//
//   unique_ids [1]   input_ids, input_mask, segment_ids [S]
//   start_positions, end_positions, is_impossible [1]   when the windows have labels
#pragma once

#include <filesystem>

#include "tasks/squad/squad_features.h"

namespace cloze::tasks {

// S = sequence_length is at least that of the features.
void write_squad_records(const std::filesystem::path& path, const SquadData& data,
                         const SquadFeatures& features, int64_t sequence_length);

}  // namespace cloze::tasks
