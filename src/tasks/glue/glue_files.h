// Which file holds a split of a GLUE task, in a task's folder or in the folder above it, as the
// official download has them:
//
//   task      folder            train      dev                 test
//   MNLI      MNLI              train.tsv  dev_matched.tsv     test_matched.tsv
//   MNLI-mm   MNLI              train.tsv  dev_mismatched.tsv  test_mismatched.tsv
//   AX        diagnostic or AX                                 diagnostic.tsv or test.tsv
//   others    the task's name   train.tsv  dev.tsv             test.tsv
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "tasks/glue/glue_task.h"

namespace cloze::tasks {

enum class GlueSplit { kTrain, kDev, kTest };
std::string_view name_of(GlueSplit split);  // "train", "dev", "test"

std::optional<std::filesystem::path> find_glue_file(const std::filesystem::path& folder,
                                                    const GlueTask& task, GlueSplit split);

// The same; UserError that lists the paths it looked for when there is none, or says that AX is for
// testing.
std::filesystem::path glue_file(const std::filesystem::path& folder, const GlueTask& task,
                                GlueSplit split);

}  // namespace cloze::tasks
