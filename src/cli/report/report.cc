#include "cli/report/report.h"

#include <fmt/format.h>

#include "base/byte_size.h"
#include "base/time_text.h"
#include "cli/report/report_pictures.h"
#include "formats/markup.h"

namespace cloze::cli {
namespace {

using formats::escaped_markup;

constexpr size_t kMostValues = 25;  // listed of those alive at the peak

// Wide things scroll on a narrow screen and shrink on paper.
constexpr const char* kStyle = R"(
:root{color-scheme:light dark;--text:#1c2228;--back:#fff;--line:#d4dae0;--soft:#5d6872}
@media(prefers-color-scheme:dark){:root{--text:#e4e8ec;--back:#14181c;--line:#39424b;--soft:#9aa5b0}}
body{font:15px/1.45 system-ui,sans-serif;color:var(--text);background:var(--back);margin:0 auto;max-width:1000px;padding:16px}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 16px}dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
.wide{overflow-x:auto}svg{min-width:680px;width:100%;display:block}
svg text{font:13px system-ui,sans-serif;fill:var(--text)}
.grid{stroke:var(--text);stroke-opacity:.16}.border{stroke:var(--text);stroke-opacity:.5}
.peak{stroke:var(--text);stroke-width:1.5;stroke-dasharray:5 4}
.estimated{fill:#5576b8}.measured{fill:#e8a33d}svg text.estimated,svg text.measured{fill:var(--text)}
table{border-collapse:collapse;width:100%;font-size:.87rem;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:2px 8px;border-bottom:1px solid var(--line);vertical-align:top}
th{position:sticky;top:0;background:var(--back)}.number{text-align:right;white-space:nowrap}
.color{display:inline-block;width:.8em;height:.8em;margin-right:.5em}
summary{cursor:pointer}p{max-width:46rem}
@media print{body{max-width:none;padding:0;font-size:11px}svg{min-width:0}.wide{overflow:visible}th{position:static}
.color,svg path,svg rect{print-color-adjust:exact;-webkit-print-color-adjust:exact}h2{break-after:avoid}tr,svg{break-inside:avoid}}
)";

struct Column {
  const char* name;
  bool is_number = false;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {
    html_ = "<div class=\"wide\"><table>\n<thead><tr>";
    for (const Column& column : columns_) add_cell("th", column, column.name);
    html_ += "</tr></thead>\n<tbody>\n";
  }
  // As many cells as columns, in HTML.
  void add(const std::vector<std::string>& cells) {
    html_ += "<tr>";
    for (size_t i = 0; i < cells.size(); ++i) add_cell("td", columns_[i], cells[i]);
    html_ += "</tr>\n";
  }
  std::string html() const { return html_ + "</tbody></table></div>\n"; }

 private:
  void add_cell(const char* tag, const Column& column, const std::string& cell) {
    html_ +=
        fmt::format("<{0}{1}>{2}</{0}>", tag, column.is_number ? " class=\"number\"" : "", cell);
  }
  std::vector<Column> columns_;
  std::string html_;
};

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

std::string facts(const Report& report) {
  std::string html = "<dl>\n";
  for (const auto& [name, value] : report.facts) {
    html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped_markup(name), escaped_markup(value));
  }
  return html + "</dl>\n";
}

std::string kinds_table(const std::vector<MemoryBand>& bands, const plan::ProgramUse& use) {
  Table table({{"kind"}, {"MiB at the peak", true}, {"MiB at most", true}});
  for (const MemoryBand& band : bands) {
    table.add({fmt::format("<span class=\"color\" style=\"background:{}\"></span>{}", band.color,
                           escaped_markup(band.name)),
               mib(band.bytes[use.peak]), mib(band.most())});
  }
  return table.html();
}

std::string alive_table(const Report& report) {
  const std::vector<graph::Value>& alive = report.use.alive_at_peak;
  Table table({{"activation"}, {"type"}, {"MiB", true}});
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
  return "<h2>Memory over the program</h2>\n<div class=\"wide\">" +
         memory_picture(report.program, report.use, bands) +
         fmt::format(
             "</div>\n<p>Memory is highest at launch {}, {}: {} MiB that live as long as the "
             "program, and {} MiB of activations and workspace, for which {} MiB are set "
             "aside.</p>\n",
             report.use.peak, escaped_markup(peak.node->name()), mib(report.use.always_bytes),
             mib(peak.temporary_bytes()), mib(planned));
}

std::string operators_table(const std::vector<OperatorTime>& times) {
  Table table({{"operator"},
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
  return html + "</ul>\n<div class=\"wide\">" + time_picture(times) + "</div>\n";
}

std::string launches_part(const Report& report) {
  Table table({{"launch", true},
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
  return fmt::format(
             "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
             "<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n",
             escaped_markup(report.title), kStyle) +
         facts(report) + memory_part(report, bands) + kinds_table(bands, report.use) +
         time_part(report, times) + "<h2>Alive at the peak</h2>\n" + alive_table(report) +
         "<h2>Operators in a step</h2>\n" + operators_table(times) + launches_part(report) +
         "</body>\n</html>\n";
}

}  // namespace cloze::cli
