// `cloze data wikipedia`: a Wikipedia dump or WikiExtractor's output into plain text.
#pragma once

namespace CLI {
class App;
}

namespace cloze::cli {

void add_data_wikipedia(CLI::App& parent);

}  // namespace cloze::cli
