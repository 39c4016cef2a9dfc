// HDF5 files, as far as training data needs them: integer data sets of one or two dimensions, read
// by rows. Built without the library (libhdf5-dev) every file is a UserError that says so.
//
// The library is not thread-safe: calls are made one at a time for the whole process.
// Errors: DataError that names the file and the data set.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace cloze::formats {

class Hdf5File {
 public:
  explicit Hdf5File(std::filesystem::path path);
  ~Hdf5File();
  Hdf5File(const Hdf5File&) = delete;
  Hdf5File& operator=(const Hdf5File&) = delete;

  const std::filesystem::path& path() const { return path_; }

  struct Shape {
    int64_t rows = 0;
    int64_t columns = 1;  // 1 for a data set of one dimension
  };
  Shape shape_of(const std::string& data_set) const;
  // Rows [begin, begin + count), one after the other.
  std::vector<int64_t> read_rows(const std::string& data_set, int64_t begin, int64_t count) const;

 private:
  std::filesystem::path path_;
  int64_t file_ = -1;
};

}  // namespace cloze::formats
