// NVIDIA's and Habana's pre-training shards in HDF5: six data sets with a row for each of N
// records.
//
//   input_ids [N,S]   input_mask [N,S]   segment_ids [N,S]
//   masked_lm_positions [N,M], masked_lm_ids [N,M]   after the first position 0: unused
//   next_sentence_labels [N]
//
// Rows are read in blocks, so reading in order is fast and reading in random order is not: training
// unpacks them first (record_dataset.h).
// Built without HDF5, opening one is a UserError. Source: NVIDIA DeepLearningExamples,
// PyTorch/LanguageModeling/BERT, create_pretraining_data.py and run_pretraining.py.
#pragma once

#include "data/records/record_file.h"

namespace cloze::data {

std::unique_ptr<RecordFile> open_hdf5_record_file(const std::filesystem::path& path,
                                                  const RecordShape& shape);

}  // namespace cloze::data
