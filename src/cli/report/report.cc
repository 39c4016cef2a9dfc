#include "cli/report/report.h"

#include <fmt/format.h>

#include "base/byte_size.h"
#include "base/time_text.h"
#include "cli/report/report_pictures.h"
#include "formats/html_page.h"
#include "formats/markup.h"

namespace cloze::cli {
namespace {

using formats::escaped_markup;
using formats::html_picture;
using formats::HtmlTable;

constexpr size_t kMostValues = 25;  // listed of those alive at the peak

constexpr const char* kStyle = R"(
.peak{stroke:var(--text);stroke-width:1.5;stroke-dasharray:5 4}
.estimated{fill:#5576b8}.measured{fill:#e8a33d}svg text.estimated,svg text.measured{fill:var(--text)}
.color{display:inline-block;width:.8em;height:.8em;margin-right:.5em}
)";

std::string mib(int64_t bytes) { return fmt::format("{:.2f}", mebibytes(bytes)); }

// To the 10 ns that the smallest launches take; empty where there is nothing to say.
std::string milliseconds(double seconds) {
  return seconds > 0.0 ? fmt::format("{:.5f}", seconds * 1e3) : "";
}
std::string giga(double count) { return count > 0.0 ? fmt::format("{:.3f}", count / 1e9) : ""; }
std::string rate(double count, double seconds) {
  return count > 0.0 && seconds > 0.0 ? fmt::format("{:.1f}", count / seconds / 1e9) : "";
}

double call_of(const forecast::StepSeconds& seconds, size_t launch) {
  return seconds.calls.empty() ? 0.0 : seconds.calls[launch];
}

std::string value_name(const plan::Program& program, const Report& report, graph::Value value) {
  const std::string& name = program.graph.info(value).name;
  if (!name.empty() && name.front() != '%') return name;
  for (const plan::LaunchUse& launch : report.use.launches) {
    for (const graph::Value output : launch.node->outputs) {
      if (output == value) return "output of " + launch.node->name();
    }
  }
  return name;
}

std::string kinds_table(const std::vector<MemoryBand>& bands, const plan::ProgramUse& use) {
  HtmlTable table({{"kind"}, {"MiB at the peak", true}, {"MiB at most", true}});
  for (const MemoryBand& band : bands) {
    table.add({fmt::format("<span class=\"color\" style=\"background:{}\"></span>{}", band.color,
                           escaped_markup(band.name)),
               mib(band.bytes[use.peak]), mib(band.most())});
  }
  return table.html();
}

std::string alive_table(const Report& report) {
  const std::vector<graph::Value>& alive = report.use.alive_at_peak;
  HtmlTable table({{"activation"}, {"type"}, {"MiB", true}});
  int64_t rest = 0;
  for (size_t i = 0; i < alive.size(); ++i) {
    const graph::TensorType& type = report.program.graph.type(alive[i]);
    if (i >= kMostValues) {
      rest += type.bytes();
      continue;
    }
    table.add({escaped_markup(value_name(report.program, report, alive[i])),
               escaped_markup(type.to_string()), mib(type.bytes())});
  }
  if (alive.size() > kMostValues) {
    table.add({fmt::format("{} more", alive.size() - kMostValues), "", mib(rest)});
  }
  return table.html();
}

std::string memory_part(const Report& report, const std::vector<MemoryBand>& bands) {
  const plan::LaunchUse& peak = report.use.launches[report.use.peak];
  const int64_t planned = report.program.bytes_of(plan::Arena::kActivations) +
                          report.program.bytes_of(plan::Arena::kWorkspace);
  return "<h2>Memory over the program</h2>\n" +
         html_picture(memory_picture(report.program, report.use, bands)) +
         fmt::format(
             "<p>Memory is highest at launch {}, {}: {} MiB that live as long as the "
             "program, and {} MiB of activations and workspace, for which {} MiB are set "
             "aside.</p>\n",
             report.use.peak, escaped_markup(peak.node->name()), mib(report.use.always_bytes),
             mib(peak.temporary_bytes()), mib(planned));
}

std::string operators_table(const std::vector<OperatorTime>& times) {
  HtmlTable table({{"operator"},
                   {"calls", true},
                   {"GFLOP", true},
                   {"GB", true},
                   {"estimated ms", true},
                   {"measured ms", true},
                   {"GFLOP/s", true},
                   {"GB/s", true}});
  for (const OperatorTime& row : times) {
    table.add({escaped_markup(row.name), std::to_string(row.calls), giga(row.flops),
               giga(row.bytes), milliseconds(row.estimated), milliseconds(row.measured),
               rate(row.flops, row.seconds()), rate(row.bytes, row.seconds())});
  }
  return table.html();
}

std::string time_part(const Report& report, const std::vector<OperatorTime>& times) {
  std::string html = "<h2>Time per operator in a step</h2>\n<ul>\n";
  for (const forecast::StepSeconds* seconds : {&report.estimated, &report.measured}) {
    if (seconds->calls.empty()) continue;
    html += fmt::format("<li>{} a step, {}</li>\n",
                        time_text(seconds->of_step(report.use, report.micro_batches)),
                        escaped_markup(seconds->source));
  }
  return html + "</ul>\n" + html_picture(time_picture(times));
}

std::string launches_part(const Report& report) {
  HtmlTable table({{"launch", true},
                   {"phase"},
                   {"module"},
                   {"operator"},
                   {"kernel"},
                   {"GFLOP", true},
                   {"MiB read", true},
                   {"MiB written", true},
                   {"MiB alive", true},
                   {"estimated ms", true},
                   {"measured ms", true}});
  for (size_t i = 0; i < report.use.launches.size(); ++i) {
    const plan::LaunchUse& use = report.use.launches[i];
    const auto phase = static_cast<size_t>(use.node->phase.index);
    table.add(
        {std::to_string(i), escaped_markup(report.program.graph.phases()[phase]),
         escaped_markup(use.node->module), escaped_markup(use.launch->op->name),
         escaped_markup(use.launch->kernel_name), giga(use.launch->flops), mib(use.bytes_read),
         mib(use.bytes_written), mib(report.use.always_bytes + use.temporary_bytes()),
         milliseconds(call_of(report.estimated, i)), milliseconds(call_of(report.measured, i))});
  }
  return fmt::format(
      "<h2>Launches</h2>\n<details><summary>All {}, in the order in which they "
      "run</summary>\n{}</details>\n",
      report.use.launches.size(), table.html());
}

}  // namespace

Report training_report(const train::TrainingStepOptions& step, const StepSize& size,
                       const plan::Program& program, const std::string& memory) {
  const models::BertConfig& model = step.model;
  const auto ids = program.graph.find("input_ids");  // a later stage has none
  const int64_t tokens = ids ? program.graph.type(*ids).shape[0] : step.capacity.tokens;
  Report report{
      .title = fmt::format("A training step of {}: {} layers of {}, in {}",
                           model.groupbert ? "GroupBERT" : "BERT", model.num_hidden_layers,
                           model.hidden_size, name_of(step.compute_dtype)),
      .program = program,
      .use = plan::use_of(program),
      .micro_batches = size.micro_batches};
  report.facts = {
      {"model",
       fmt::format("{} layers, hidden size {}, {} heads, intermediate size {}, {} tokens in "
                   "the vocabulary",
                   model.num_hidden_layers, model.hidden_size, model.num_attention_heads,
                   model.intermediate_size, model.vocab_size)},
      {"a step", fmt::format("{} sequences of up to {} tokens, in {} micro-batches of {} tokens",
                             size.sequences, size.seq_length, size.micro_batches, tokens)},
      {"computed", fmt::format("in {}, optimizer {}, activations {}", name_of(step.compute_dtype),
                               step.optimizer.name, step.recompute ? "recomputed" : "kept")},
      {"machine", program.target->description()},
      {"process", memory}};
  return report;
}

std::string report_html(const Report& report) {
  const std::vector<MemoryBand> bands = memory_bands(report.program, report.use);
  const std::vector<OperatorTime> times =
      operator_times(report.use, report.micro_batches, report.estimated, report.measured);
  return formats::html_page({.title = report.title,
                             .style = kStyle,
                             .body = formats::html_facts(report.facts) +
                                     memory_part(report, bands) + kinds_table(bands, report.use) +
                                     time_part(report, times) + "<h2>Alive at the peak</h2>\n" +
                                     alive_table(report) + "<h2>Operators in a step</h2>\n" +
                                     operators_table(times) + launches_part(report)});
}

}  // namespace cloze::cli
