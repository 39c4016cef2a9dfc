// `cloze data records`: plain text becomes pre-training records.
#pragma once

namespace CLI {
class App;
}

namespace cloze::cli {

void add_data_records(CLI::App& parent);

}  // namespace cloze::cli
