#include "cli/plan/chrome_trace.h"

#include "formats/json.h"

namespace cloze::cli {

namespace {

nlohmann::ordered_json name_of_row(const std::string& phase, size_t row) {
  return {
      {"name", "thread_name"}, {"ph", "M"}, {"pid", 1}, {"tid", row}, {"args", {{"name", phase}}}};
}

nlohmann::ordered_json event_of(const plan::LaunchUse& launch, const runtime::LaunchSpan& span) {
  return {{"name", launch.node->name()},
          {"cat", launch.launch->op->name},
          {"ph", "X"},
          {"pid", 1},
          {"tid", span.phase},
          {"ts", span.begin * 1e6},
          {"dur", span.seconds * 1e6},
          {"args",
           {{"kernel", launch.launch->kernel_name},
            {"layer", launch.node->layer},
            {"gflop", launch.launch->flops / 1e9},
            {"bytes", launch.bytes_read + launch.bytes_written}}}};
}

}  // namespace

std::string chrome_trace(const plan::Program& program, const plan::ProgramUse& use,
                         std::span<const runtime::LaunchSpan> spans) {
  std::string text = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
  std::vector<size_t> first;  // of each phase
  size_t count = 0;
  for (size_t phase = 0; phase < program.phases.size(); ++phase) {
    first.push_back(count);
    count += program.phases[phase].size();
    text += (phase > 0 ? ",\n" : "\n") +
            formats::json_line(name_of_row(program.graph.phases()[phase], phase));
  }
  // Event by event: all of them as one value would take many times the text.
  for (const runtime::LaunchSpan& span : spans) {
    const plan::LaunchUse& launch = use.launches[first[span.phase] + span.launch];
    text += ",\n" + formats::json_line(event_of(launch, span));
  }
  return text + "\n]}\n";
}

}  // namespace cloze::cli
