// The example that the page offers: one that the model answers right, so that whoever tries it sees
// what the model is good for. It is looked for, in this order,
//
//   in example.json beside the model or in the folder of its run, which fine-tuning writes of the
//   data that it scored: {"input": {"question": "...", "context": "..."}, "answer": "..."}
//   among examples from the sample world (examples/sample_world) and from general knowledge.
//
// The first one to which the model gives the answer, letter case aside, is taken.
#pragma once

#include <filesystem>
#include <optional>

#include "formats/json.h"
#include "serve/own_form.h"

namespace cloze::serve {

// The input as a request has it; nothing when the model answers none of the examples right.
std::optional<formats::Json> page_example(const HeadService& head,
                                          const std::filesystem::path& model);

}  // namespace cloze::serve
