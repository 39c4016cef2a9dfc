// `cloze data stats`: what pre-training records hold, counted.
#pragma once

namespace CLI {
class App;
}

namespace cloze::cli {

void add_data_stats(CLI::App& parent);

}  // namespace cloze::cli
