#include "backend/gpu/emulated_launcher.h"

#include "base/error.h"

namespace cloze::backend::gpu::inline emulated {

void Launcher::finish() const {
  if (findings().empty()) return;
  std::string text = fmt::format("the emulated kernel {} did wrong:", kernel_);
  for (const emulation::Finding& finding : findings()) text += "\n  " + finding.text;
  throw InternalError(text);
}

}  // namespace cloze::backend::gpu::inline emulated
