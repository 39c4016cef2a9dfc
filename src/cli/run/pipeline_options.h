// Stages of a pipeline as options say them: a number of stages, or Graphcore's lists of what each
// stage has, and the device of each, which is a rank here.
//
//   pipeline_stages  3
//   pipeline_stages  [["emb", "pos"], ["hid", "hid"], ["mlm", "nsp"]]    device_mapping  [0, 1, 0]
#pragma once

#include <cstdint>
#include <string>

#include "passes/pipeline.h"

namespace cloze::cli {

// Without a device_mapping each stage has a rank of its own. UserError when an option cannot be
// read, or does not fit the model's layers.
passes::Stages pipeline_stages(const std::string& stages, const std::string& device_mapping,
                               int64_t num_layers);

}  // namespace cloze::cli
