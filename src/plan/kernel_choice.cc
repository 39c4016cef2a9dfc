#include "plan/kernel_choice.h"

#include <fmt/ranges.h>

#include <utility>

#include "base/error.h"

namespace cloze::plan {

backend::KernelRequest request_of(const graph::Graph& graph, const graph::Node& node,
                                  std::shared_ptr<const backend::Target> target) {
  return {.op = node.op,
          .inputs = graph.types(node.inputs),
          .outputs = graph.types(node.outputs),
          .accumulates = node.accumulates,
          .attributes = node.attributes,
          .target = std::move(target)};
}

KernelChoice choose_kernel(const backend::Backend& backend, const backend::KernelRequest& request) {
  KernelChoice choice;
  for (const backend::KernelEntry& entry : backend.kernels(*request.op)) {
    if (const auto reason = entry.refuse(request)) {
      choice.refusals.push_back(fmt::format("{}: {}", entry.name, *reason));
      continue;
    }
    choice.kernel = entry.create(request);
    choice.name = entry.name;
    return choice;
  }
  throw_user_error("device {} cannot compute {} here: {}; choose another `device`", backend.name(),
                   request.op->name,
                   choice.refusals.empty() ? "it has no kernel for it yet"
                                           : fmt::format("{}", fmt::join(choice.refusals, "; ")));
}

}  // namespace cloze::plan
