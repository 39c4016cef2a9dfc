// Chooses the kernel of a backend that serves a node.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/kernel.h"
#include "graph/graph.h"

namespace cloze::plan {

backend::KernelRequest request_of(const graph::Graph& graph, const graph::Node& node,
                                  std::shared_ptr<const backend::Target> target);

struct KernelChoice {
  std::unique_ptr<backend::Kernel> kernel;
  std::string name;                   // "cpu/linear/..."
  std::vector<std::string> refusals;  // "kernel: reason" of better entries that could not serve
};

// The first that serves. InternalError when none does.
KernelChoice choose_kernel(const backend::Backend& backend, const backend::KernelRequest& request);

}  // namespace cloze::plan
