// For tests: HDF5 is optional, and its tests skip in a program that was built without it.
#pragma once

#include <exception>
#include <string_view>

namespace cloze::formats {

inline bool says_hdf5_is_absent(const std::exception& error) {
  return std::string_view(error.what()).find("libhdf5-dev") != std::string_view::npos;
}

}  // namespace cloze::formats
