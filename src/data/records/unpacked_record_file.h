// The records of a file that can be read in order only (HDF5), for reading in random order: all are
// decoded once, in order, into a temporary file. It takes 8 bytes a prediction, 4 a token and 20 a
// record, in the folder that TMPDIR names (/tmp), and goes with this object.
//
//   file      := for each record  token, number of tokens times  (id * 2 + token type)
//                                 position, number of predictions times | label, as often
//                                 next-sentence label                          all int32
#pragma once

#include "data/records/record_file.h"

namespace cloze::data {

std::unique_ptr<RecordFile> unpack_record_file(std::unique_ptr<RecordFile> source);

}  // namespace cloze::data
