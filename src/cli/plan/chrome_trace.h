// Launches over time as chrome://tracing and ui.perfetto.dev read them.
// Source: the Trace Event Format, JSON object form, complete events ("ph": "X"), microseconds.
#pragma once

#include <span>
#include <string>

#include "plan/program_use.h"
#include "runtime/executor.h"

namespace cloze::cli {

// One event per span; the phases are rows of their own.
std::string chrome_trace(const plan::Program& program, const plan::ProgramUse& use,
                         std::span<const runtime::LaunchSpan> spans);

}  // namespace cloze::cli
