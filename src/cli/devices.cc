#include <fmt/core.h>

#include <string>
#include <vector>

#include "base/byte_size.h"
#include "cli/options/commands.h"
#include "cli/options/machine_options.h"
#include "engine/devices.h"
#include "engine/instruction_set.h"
#include "formats/json.h"
#include "platform/available_threads.h"
#include "platform/memory.h"
#include "platform/processor.h"

namespace cloze::cli {
namespace {

struct Options {
  bool json = false;
};

double gibibytes(int64_t bytes) { return mebibytes(bytes) / 1024; }

// A device, or why there is none.
struct Row {
  std::string device;  // of --device; "cuda" where there is no card
  std::string text;
  formats::Json values;
};

Row processor() {
  const std::string name = platform::processor_name(), set = engine::instruction_set();
  const int threads = platform::available_threads();
  const int64_t bytes = platform::machine_bytes();
  return {
      .device = "cpu",
      .text = fmt::format("{}, {} thread{}, {}, {:.1f} GiB of memory", name, threads,
                          threads == 1 ? "" : "s", set, gibibytes(bytes)),
      .values = {
          {"name", name}, {"threads", threads}, {"instruction_set", set}, {"memory_bytes", bytes}}};
}

Row row_of(const engine::Card& card, size_t number, const std::string& driver) {
  Row row{
      .device = fmt::format("cuda:{}", number),
      .text = fmt::format("{}, compute capability {}, {} multiprocessors, {:.1f} GiB of memory, "
                          "driver for CUDA {}",
                          card.name, card.capability(), card.multiprocessors,
                          gibibytes(card.memory_bytes), driver),
      .values = {{"name", card.name},
                 {"compute_capability", card.capability()},
                 {"multiprocessors", card.multiprocessors},
                 {"memory_bytes", card.memory_bytes},
                 {"driver", driver}}};
  if (const std::string refusal = card.refusal(); !refusal.empty()) {
    row.text += "; cannot be used: " + refusal;
    row.values["refusal"] = refusal;
  }
  return row;
}

std::vector<Row> rows() {
  const engine::Cards& found = engine::cards();
  std::vector<Row> rows{processor()};
  for (size_t i = 0; i < found.cards.size(); ++i) {
    rows.push_back(row_of(found.cards[i], i, found.driver));
  }
  if (!found.can_be_used()) {
    rows.push_back({.device = "cuda",
                    .text = fmt::format("{}; {}", found.refusal, found.advice),
                    .values = {{"refusal", found.refusal}, {"advice", found.advice}}});
  }
  return rows;
}

void run(const Options& options) {
  for (Row& row : rows()) {
    if (options.json) {
      row.values["device"] = row.device;
      fmt::print("{}\n", formats::json_line(row.values));
    } else {
      fmt::print("{:<7} {}\n", row.device, row.text);
    }
  }
  if (!options.json) fmt::print("{:<7} takes {}\n", kAnyDevice, chosen_device(kAnyDevice));
}

void add_options(OptionTable& table, Options& o) {
  table.add("json", &o.json, "Print one JSON object per line");
}

}  // namespace

void add_devices(Subcommand program) {
  program.add_command(
      "devices",
      {"List what this machine can compute with, and why a card cannot be used", "cloze devices"},
      add_options, run);
}

}  // namespace cloze::cli
