// The part of hdf5.cc that calls libhdf5: a plug-in.
#include <hdf5.h>

#include <array>
#include <cstdlib>

#include "base/error.h"
#include "formats/open_hdf5_file.h"

namespace cloze::formats {
namespace {

constexpr int64_t kMaxValues = 8 << 20;  // of one data set in one call

// Holds what the library hands out and wants closed. The child ends soon; closing keeps memory low.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  hid_t id() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

class OpenFile final : public OpenHdf5File {
 public:
  explicit OpenFile(const std::filesystem::path& path) : file_(open(path), H5Fclose) {
    if (file_.id() < 0) throw_data_error("cannot be opened as HDF5; is it complete?");
  }

  Hdf5Shape shape_of(const std::string& name) const override {
    const Handle set(H5Dopen2(file_.id(), name.c_str(), H5P_DEFAULT), H5Dclose);
    if (set.id() < 0) refuse_data_set(name);
    require_filters(set, name);
    const Handle type(H5Dget_type(set.id()), H5Tclose);
    const Handle space(H5Dget_space(set.id()), H5Sclose);
    const int dimensions = H5Sget_simple_extent_ndims(space.id());
    if (H5Tget_class(type.id()) != H5T_INTEGER || (dimensions != 1 && dimensions != 2)) {
      throw_data_error("data set {} is not a table of integers; store it as one", name);
    }
    std::array<hsize_t, 2> extent{0, 1};
    H5Sget_simple_extent_dims(space.id(), extent.data(), nullptr);
    return {static_cast<int64_t>(extent[0]), static_cast<int64_t>(extent[1])};
  }

  std::vector<int64_t> read_rows(const std::string& name, int64_t begin,
                                 int64_t count) const override {
    const Hdf5Shape shape = shape_of(name);
    if (begin + count > shape.rows || shape.columns > kMaxValues / count) {
      throw_data_error("data set {} has {} rows of {} columns", name, shape.rows, shape.columns);
    }
    const Handle set(H5Dopen2(file_.id(), name.c_str(), H5P_DEFAULT), H5Dclose);
    const Handle space(H5Dget_space(set.id()), H5Sclose);
    const std::array<hsize_t, 2> offset{static_cast<hsize_t>(begin), 0};
    const std::array<hsize_t, 2> extent{static_cast<hsize_t>(count),
                                        static_cast<hsize_t>(shape.columns)};
    H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, offset.data(), nullptr, extent.data(), nullptr);
    const int dimensions = H5Sget_simple_extent_ndims(space.id());
    const Handle memory(H5Screate_simple(dimensions, extent.data(), nullptr), H5Sclose);
    std::vector<int64_t> values(static_cast<size_t>(count * shape.columns));
    if (H5Dread(set.id(), H5T_NATIVE_INT64, memory.id(), space.id(), H5P_DEFAULT, values.data()) <
        0) {
      throw_data_error("rows {} to {} of data set {} cannot be read; is the file damaged?", begin,
                       begin + count, name);
    }
    return values;
  }

 private:
  static hid_t open(const std::filesystem::path& path) {
    ::setenv("HDF5_USE_FILE_LOCKING", "FALSE", /*overwrite=*/0);  // read-only, it needs none
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // errors are told by what is thrown
    return H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  }

  [[noreturn]] void refuse_data_set(const std::string& name) const {
    if (H5Lexists(file_.id(), name.c_str(), H5P_DEFAULT) > 0) {
      throw_data_error("data set {} cannot be opened; is it of a newer format?", name);
    }
    throw_data_error("has no data set {}", name);
  }

  // h5py's lzf, for one, is no part of the library.
  static void require_filters(const Handle& set, const std::string& name) {
    const Handle properties(H5Dget_create_plist(set.id()), H5Pclose);
    const int filters = H5Pget_nfilters(properties.id());
    for (int i = 0; i < filters; ++i) {
      std::array<char, 32> filter_name{};
      unsigned flags = 0;
      size_t values = 0;
      const H5Z_filter_t filter =
          H5Pget_filter2(properties.id(), static_cast<unsigned>(i), &flags, &values, nullptr,
                         filter_name.size(), filter_name.data(), nullptr);
      if (filter < 0 || H5Zfilter_avail(filter) > 0) continue;
      filter_name.back() = '\0';
      throw_data_error("data set {} is compressed with '{}' (filter {}); write it again with gzip",
                       name, filter_name.data(), filter);
    }
  }

  Handle file_;
};

}  // namespace

OpenHdf5File* cloze_open_hdf5_file(const std::filesystem::path& path) { return new OpenFile(path); }

}  // namespace cloze::formats
