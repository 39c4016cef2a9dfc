// The weights of a packed model on a device, made of the parameters it was trained with: packed,
// or as they are. One after the other, so that beside the weights nothing is held but what one of
// them is made of.
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
// (passes/freeze.h). Returns that one's parameter arena.
std::shared_ptr<const backend::DeviceMemory> make_weights(const graph::Graph& model,
                                                          const plan::Program& program,
                                                          const ReadParameter& read,
                                                          backend::Device& device);

}  // namespace cloze::inference
