#include "formats/hdf5.h"

#include <hdf5.h>

#include <array>
#include <mutex>
#include <utility>

#include "base/error.h"

namespace cloze::formats {
namespace {

std::mutex library_mutex;

// What the library hands out and wants closed.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&&) = delete;
  hid_t id() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

struct DataSet {
  Handle set;
  Handle space;
  Hdf5File::Shape shape;
  int dimensions;
};

DataSet open_data_set(hid_t file, const std::filesystem::path& path, const std::string& name) {
  Handle set(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
  if (set.id() < 0) throw_data_error("{} has no data set {}", path.string(), name);
  const Handle type(H5Dget_type(set.id()), H5Tclose);
  Handle space(H5Dget_space(set.id()), H5Sclose);
  const int dimensions = H5Sget_simple_extent_ndims(space.id());
  if (H5Tget_class(type.id()) != H5T_INTEGER || (dimensions != 1 && dimensions != 2)) {
    throw_data_error("{}: data set {} is no table of integers", path.string(), name);
  }
  std::array<hsize_t, 2> extent{0, 1};
  H5Sget_simple_extent_dims(space.id(), extent.data(), nullptr);
  return {std::move(set),
          std::move(space),
          {static_cast<int64_t>(extent[0]), static_cast<int64_t>(extent[1])},
          dimensions};
}

}  // namespace

Hdf5File::Hdf5File(std::filesystem::path path) : path_(std::move(path)) {
  const std::lock_guard lock(library_mutex);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // errors are told by what is thrown
  file_ = H5Fopen(path_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file_ < 0) throw_data_error("{}: cannot be read as HDF5; it is damaged", path_.string());
}

Hdf5File::~Hdf5File() {
  const std::lock_guard lock(library_mutex);
  H5Fclose(file_);
}

Hdf5File::Shape Hdf5File::shape_of(const std::string& data_set) const {
  const std::lock_guard lock(library_mutex);
  return open_data_set(file_, path_, data_set).shape;
}

std::vector<int64_t> Hdf5File::read_rows(const std::string& data_set, int64_t begin,
                                         int64_t count) const {
  const std::lock_guard lock(library_mutex);
  const DataSet opened = open_data_set(file_, path_, data_set);
  const std::array<hsize_t, 2> offset{static_cast<hsize_t>(begin), 0};
  const std::array<hsize_t, 2> extent{static_cast<hsize_t>(count),
                                      static_cast<hsize_t>(opened.shape.columns)};
  CLOZE_CHECK(begin >= 0 && begin + count <= opened.shape.rows, "rows {} to {} of {}", begin,
              begin + count, opened.shape.rows);
  H5Sselect_hyperslab(opened.space.id(), H5S_SELECT_SET, offset.data(), nullptr, extent.data(),
                      nullptr);
  const Handle memory(H5Screate_simple(opened.dimensions, extent.data(), nullptr), H5Sclose);
  std::vector<int64_t> values(static_cast<size_t>(count * opened.shape.columns));
  if (H5Dread(opened.set.id(), H5T_NATIVE_INT64, memory.id(), opened.space.id(), H5P_DEFAULT,
              values.data()) < 0) {
    throw_data_error("{}: rows {} to {} of data set {} cannot be read; the file is damaged",
                     path_.string(), begin, begin + count, data_set);
  }
  return values;
}

}  // namespace cloze::formats
