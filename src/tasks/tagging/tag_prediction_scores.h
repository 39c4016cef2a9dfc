// Scores a file of predicted tags that any program may have written: a token a line, columns with
// tabs between them where a line has a tab, else with blanks; a blank line ends a sentence; tokens
// -DOCSTART- are left out, and so are those whose gold tag is "_", not known. The last column holds
// the predicted tags. The gold tags are the column before it, as the program conlleval has them, or
// the last column of a file of their own with as many tokens in each sentence. Files may be
// compressed.
//
// Errors: DataError that names the file and the line, or the sentence, where a column is missing,
// where the two files differ in their sentences, and for tags that entity_scores.h refuses.
#pragma once

#include <filesystem>

#include "formats/json.h"
#include "tasks/tagging/entity_scores.h"

namespace cloze::tasks {

struct TagFiles {
  std::filesystem::path predictions;
  std::filesystem::path gold;  // empty: the gold tags are in the file of the predictions
};

formats::Json score_tag_predictions(const TagFiles& files, EntityReading reading);

}  // namespace cloze::tasks
