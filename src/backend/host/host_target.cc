#include "backend/host/host_target.h"

#include <fmt/format.h>

#include "platform/available_threads.h"
#include "platform/processor.h"

namespace cloze::backend::host {

HostTarget::HostTarget(const TargetOptions& options)
    : threads_(platform::resolved_threads(options.threads)) {}

std::string HostTarget::description() const {
  return fmt::format("{}, {} thread{}", platform::processor_name(), threads_,
                     threads_ == 1 ? "" : "s");
}

}  // namespace cloze::backend::host
