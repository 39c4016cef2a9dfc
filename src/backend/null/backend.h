// The null backend: kernels that compute nothing and need no workspace, for every operator and
// dtype, so that planning and scheduling can be tried without doing the work.
#pragma once

#include "backend/device.h"

namespace cloze::backend::null {

const Backend& backend();
Device& device();

}  // namespace cloze::backend::null
