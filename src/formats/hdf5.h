// HDF5 files, as far as training data needs them: integer data sets of one or two dimensions, read
// by rows. Where the program's part for HDF5, a plug-in, cannot be used (platform/plug_in.h), every
// file is a UserError that says so.
//
// The library crashes on some damaged files (1.10.8 divides by zero, for one), so it works in a
// child process: reading costs a fork, and a crash is an error like others. It takes no locks
// there, unless HDF5_USE_FILE_LOCKING says so: a file that another program has open can be read.
//
// Errors: DataError that names the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace cloze::formats {

struct Hdf5Shape {
  int64_t rows = 0;
  int64_t columns = 1;  // 1 for a data set of one dimension
};

class Hdf5File {
 public:
  // Data sets are numbered in the order in which they are named here.
  Hdf5File(std::filesystem::path path, std::vector<std::string> data_sets);

  const Hdf5Shape& shape_of(size_t data_set) const { return shapes_[data_set]; }
  // Rows [begin, begin + count) of every data set, one after the other.
  std::vector<std::vector<int64_t>> read_rows(int64_t begin, int64_t count) const;

 private:
  std::filesystem::path path_;
  std::vector<std::string> data_sets_;
  std::vector<Hdf5Shape> shapes_;
};

}  // namespace cloze::formats
