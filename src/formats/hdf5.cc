#include "formats/hdf5.h"

#include <cstring>
#include <memory>
#include <utility>

#include "base/error.h"
#include "formats/open_hdf5_file.h"
#include "platform/child.h"
#include "platform/plug_in.h"

namespace cloze::formats {
namespace {

constexpr int kSeconds = 120;  // for one call
constexpr platform::PlugIn kPlugIn{.file = "cloze_hdf5.so",
                                   .serves = "HDF5",
                                   .package = "cloze-hdf5",
                                   .needs = "libhdf5-dev",
                                   .symbol = "cloze_open_hdf5_file"};

using Open = decltype(&cloze_open_hdf5_file);

Open find_open(const std::filesystem::path& path) {
  const Result<void*> found = platform::find_in_plug_in(kPlugIn);
  if (!found) throw_user_error("{} is an HDF5 file, but {}", path.string(), found.error().message);
  return reinterpret_cast<Open>(*found);
}

template <typename T>
void append(const std::vector<T>& values, std::string& out) {
  out.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

template <typename T>
std::vector<T> take(size_t count, std::string_view& bytes) {
  CLOZE_CHECK(bytes.size() >= count * sizeof(T), "{} bytes of a child", bytes.size());
  std::vector<T> values(count);
  std::memcpy(values.data(), bytes.data(), count * sizeof(T));
  bytes.remove_prefix(count * sizeof(T));
  return values;
}

// The last byte that a child writes says what the bytes before it are.
constexpr char kValue = 'v';
constexpr char kRefusal = 'r';

std::string value_or_refusal(const std::function<std::string()>& work) {
  try {
    return work() += kValue;
  } catch (const DataError& error) {
    return std::string(error.what()) += kRefusal;
  }
}

std::string in_child(const std::filesystem::path& path, const std::function<std::string()>& work) {
  Result<std::string> bytes =
      platform::bytes_from_child([&] { return value_or_refusal(work); }, kSeconds);
  if (!bytes) {
    throw_data_error("{}: libhdf5: {}; is the file damaged?", path.string(), bytes.error().message);
  }
  std::string value = std::move(bytes).value();
  const char last = value.back();
  value.pop_back();
  if (last == kRefusal) throw_data_error("{}: {}", path.string(), value);
  return value;
}

}  // namespace

Hdf5File::Hdf5File(std::filesystem::path path, std::vector<std::string> data_sets)
    : path_(std::move(path)), data_sets_(std::move(data_sets)) {
  const std::string bytes = in_child(path_, [&, open = find_open(path_)] {
    const std::unique_ptr<OpenHdf5File> file(open(path_));
    std::vector<Hdf5Shape> shapes;
    for (const std::string& name : data_sets_) shapes.push_back(file->shape_of(name));
    std::string out;
    append(shapes, out);
    return out;
  });
  std::string_view rest = bytes;
  shapes_ = take<Hdf5Shape>(data_sets_.size(), rest);
}

std::vector<std::vector<int64_t>> Hdf5File::read_rows(int64_t begin, int64_t count) const {
  const std::string bytes = in_child(path_, [&, open = find_open(path_)] {
    const std::unique_ptr<OpenHdf5File> file(open(path_));
    std::string out;
    for (const std::string& name : data_sets_) append(file->read_rows(name, begin, count), out);
    return out;
  });
  std::string_view rest = bytes;
  std::vector<std::vector<int64_t>> values;
  for (const Hdf5Shape& shape : shapes_) {
    values.push_back(take<int64_t>(static_cast<size_t>(count * shape.columns), rest));
  }
  return values;
}

}  // namespace cloze::formats
