#include "backend/gpu/emulation/findings.h"

#include <string_view>

namespace cloze::backend::gpu::emulation {

void Findings::append(FindingKind kind, const Place& place, const std::string& what) {
  const std::string_view file = place.file_name();
  const std::string_view name = file.substr(file.rfind('/') + 1);
  all_.push_back({kind, fmt::format("{}:{}: {}", name, place.line(), what)});
}

}  // namespace cloze::backend::gpu::emulation
