// `cloze data verify`: every record of a data set read and checked.
#pragma once

namespace CLI {
class App;
}

namespace cloze::cli {

void add_data_verify(CLI::App& parent);

}  // namespace cloze::cli
