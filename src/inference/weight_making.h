// Makes the weights of a packed model on a device from the parameters that it was trained with:
// packed, or as they are. They are made one by one, so that beside the weights only the parameter
// in work is held.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "backend/device.h"
#include "graph/graph.h"
#include "plan/program.h"

namespace cloze::inference {

// Writes the values of a parameter.
using ReadParameter =
    std::function<void(const graph::ValueInfo& parameter, std::span<float> values)>;

// `model` is what inference_graph() gives, `program` was made of its frozen form
// (passes/freeze.h). Returns the parameter arena of `program`.
std::shared_ptr<const backend::DeviceMemory> make_weights(const graph::Graph& model,
                                                          const plan::Program& program,
                                                          const ReadParameter& read,
                                                          backend::Device& device,
                                                          const backend::TargetOptions& options);

}  // namespace cloze::inference
