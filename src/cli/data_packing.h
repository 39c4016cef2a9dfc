// `cloze data packing`: how well sequences of given lengths share packs of a fixed size.
#pragma once

namespace CLI {
class App;
}

namespace cloze::cli {

void add_data_packing(CLI::App& parent);

}  // namespace cloze::cli
