// An HDF5 file as the library sees it, which the program asks for in a child process: in a plug-in (platform/plug_in.h), since
// many machines lack the library.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "formats/hdf5.h"

namespace cloze::formats {

// Errors: DataError, which need not name the file.
class OpenHdf5File {
 public:
  virtual ~OpenHdf5File() = default;
  virtual Hdf5Shape shape_of(const std::string& data_set) const = 0;
  // Rows [begin, begin + count) of a data set, one after the other.
  virtual std::vector<int64_t> read_rows(const std::string& data_set, int64_t begin,
                                         int64_t count) const = 0;
};

// Opens a file: the function that the program looks for in the plug-in. The caller deletes the result.
extern "C" [[gnu::visibility("default")]] OpenHdf5File* cloze_open_hdf5_file(
    const std::filesystem::path& path);

}  // namespace cloze::formats
