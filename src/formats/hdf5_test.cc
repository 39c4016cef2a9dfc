#include "formats/hdf5.h"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <array>

#include "base/error.h"
#include "platform/files/atomic_file.h"
#include "platform/files/file.h"
#include "platform/files/own_folder_test.h"

namespace cloze::formats {
namespace {

constexpr int kRows = 4;
constexpr H5Z_filter_t kOtherFilter = 300;  // of those that are for tests

size_t leave_as_it_is(unsigned, size_t, const unsigned*, size_t bytes, size_t*, void**) {
  return bytes;
}
const H5Z_class2_t kOther{H5Z_CLASS_T_VERS, kOtherFilter, 1,       1,
                          "other",          nullptr,      nullptr, leave_as_it_is};

class Hdf5Test : public platform::OwnFolderTest {
 protected:
  void SetUp() override {
    OwnFolderTest::SetUp();
    path_ = folder_ / "shard.hdf5";
  }
  // A data set `ids` of "DCBA" in each row, with the filter that `add` sets.
  void write(hid_t type, herr_t (*add)(hid_t properties) = nullptr) const {
    const hid_t file = H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hsize_t rows = kRows;
    const hid_t space = H5Screate_simple(1, &rows, nullptr);
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    if (add != nullptr) {
      H5Pset_chunk(properties, 1, &rows);
      ASSERT_GE(add(properties), 0);
    }
    const hid_t set = H5Dcreate2(file, "ids", type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    std::array<int32_t, kRows> values;
    values.fill(kValue);
    EXPECT_GE(H5Dwrite(set, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    H5Dclose(set);
    H5Pclose(properties);
    H5Sclose(space);
    H5Fclose(file);
  }
  // What follows the file's name.
  std::string refusal(const std::string& data_set = "ids") const {
    try {
      Hdf5File(path_, {data_set}).read_rows(0, kRows);
    } catch (const DataError& error) {
      return std::string(error.what()).substr(path_.string().size());
    }
    return "read";
  }

  static constexpr int32_t kValue = 0x41424344;
  std::filesystem::path path_;
};

TEST_F(Hdf5Test, IntegersAreRead) {
  write(H5T_STD_I32LE, [](hid_t properties) { return H5Pset_deflate(properties, 6); });
  const Hdf5File file(path_, {"ids"});
  EXPECT_EQ(file.shape_of(0).rows, kRows);
  EXPECT_EQ(file.read_rows(1, 2), (std::vector<std::vector<int64_t>>{{kValue, kValue}}));
}

TEST_F(Hdf5Test, AWholeFileIsNotCalledDamaged) {
  write(H5T_IEEE_F32LE);
  EXPECT_EQ(refusal("none"), ": has no data set none");
  EXPECT_EQ(refusal(), ": data set ids is not a table of integers; store it as one");
}

TEST_F(Hdf5Test, AFilterThatIsNotThereIsNamed) {
  ASSERT_GE(H5Zregister(&kOther), 0);
  write(H5T_STD_I32LE,
        [](hid_t properties) { return H5Pset_filter(properties, kOtherFilter, 0, 0, nullptr); });
  H5Zunregister(kOtherFilter);
  EXPECT_EQ(refusal(),
            ": data set ids is compressed with 'other' (filter 300); write it again with gzip");
}

TEST_F(Hdf5Test, DamageIsSuspectedWhereItMayBe) {
  write(H5T_STD_I32LE, H5Pset_fletcher32);
  std::string bytes = platform::read_file(path_);
  const size_t values = bytes.find("DCBADCBA");
  ASSERT_NE(values, std::string::npos);
  bytes[values] = 'X';
  platform::write_file_atomically(path_, bytes);
  EXPECT_EQ(refusal(), ": rows 0 to 4 of data set ids cannot be read; is the file damaged?");
  platform::write_file_atomically(path_, bytes.substr(0, bytes.size() / 2));
  EXPECT_EQ(refusal(), ": cannot be opened as HDF5; is it complete?");
}

}  // namespace
}  // namespace cloze::formats
