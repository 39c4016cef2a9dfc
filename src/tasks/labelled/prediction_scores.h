// Scores files of predictions, such as predictions.jsonl of `cloze finetune`, that any program may
// have written: JSON Lines or an array, plain or compressed, an object for each row.
//
//   classes    {"label": "a", "predicted": "b", "probability": 0.7}  of the predicted class; may be
//              left out in all rows: then the calibration error is left out
//   numbers    {"label": 2.5, "predicted": 2.25}
//   label sets {"label": ["a"], "predicted": ["a", "b"], "probabilities": {"a": 0.9, "b": 0.6}}
//              The probabilities name all labels; they may be left out in all rows: then the labels
//              are those that occur, and the precision of the ranking is left out. With a threshold
//              the probabilities say what is predicted, and `predicted` is not read.
//
// Names and numbers may be texts or numbers. Other members are not read.
//
// Errors: DataError that names file and line (of an array, the number of the object), for a file
// without rows, for a member that is not there or is of another kind, and for a probability outside
// 0 to 1.
#pragma once

#include <filesystem>
#include <optional>

#include "formats/json.h"

namespace cloze::tasks {

formats::Json score_class_predictions(const std::filesystem::path& file);   // class_scores.h
formats::Json score_number_predictions(const std::filesystem::path& file);  // pearson, spearman
formats::Json score_label_set_predictions(const std::filesystem::path& file,
                                          std::optional<double> threshold);  // label_set_scores.h

}  // namespace cloze::tasks
