#include "formats/torch_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include "base/error.h"
#include "formats/pickle.h"
#include "formats/refusal.h"
#include "formats/stored_zip.h"

namespace cloze::formats {
namespace {

using Kind = PickleNode::Kind;

constexpr std::string_view kZipStart = "PK\x03\x04";
// Protocol 2, LONG1 of ten bytes: the magic number 0x1950a86a20f9469cfc6c, then STOP.
constexpr std::string_view kLegacyStart =
    "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e";
constexpr uint64_t kMaxStorageBytes = uint64_t{1} << 40;

struct StorageType {
  std::string_view name;
  DType dtype;
};
constexpr StorageType kStorageTypes[] = {
    {"torch.FloatStorage", DType::kF32}, {"torch.DoubleStorage", DType::kF64},
    {"torch.HalfStorage", DType::kF16},  {"torch.BFloat16Storage", DType::kBF16},
    {"torch.LongStorage", DType::kI64},  {"torch.IntStorage", DType::kI32},
    {"torch.ByteStorage", DType::kU8},   {"torch.BoolStorage", DType::kU8}};

// Names that trainers save beside tensors. None of them is called: a call is a value that is not
// read.
constexpr std::string_view kAllowed[] = {"collections.OrderedDict",
                                         "collections.defaultdict",
                                         "__builtin__.dict",
                                         "builtins.dict",
                                         "__builtin__.list",
                                         "builtins.list",
                                         "__builtin__.set",
                                         "builtins.set",
                                         "torch._utils._rebuild_tensor_v2",
                                         "torch._utils._rebuild_tensor",
                                         "torch._utils._rebuild_parameter",
                                         "torch.Size",
                                         "torch.device",
                                         "torch.serialization._get_layout",
                                         "argparse.Namespace",
                                         "_codecs.encode",
                                         "numpy.dtype",
                                         "numpy.ndarray",
                                         "numpy.core.multiarray.scalar",
                                         "numpy.core.multiarray._reconstruct",
                                         "numpy._core.multiarray.scalar",
                                         "numpy._core.multiarray._reconstruct"};

bool is_allowed(std::string_view global) {
  return std::ranges::find(kAllowed, global) != std::end(kAllowed) ||
         std::ranges::find(kStorageTypes, global, &StorageType::name) != std::end(kStorageTypes);
}

Pickle pickle_of(std::span<const std::byte> bytes, std::string_view what) {
  auto pickle = parse_pickle(bytes, is_allowed);
  if (!pickle) refuse("{}, byte {}: {}", what, pickle.error().offset, pickle.error().message);
  return std::move(pickle).value();
}

// The content of a persistent id: ('storage', type, key, device, number of elements).
struct StorageKey {
  DType dtype = DType::kF32;
  std::string key;
  int64_t elements = 0;
};

StorageKey storage_key_of(const PickleNode& reference) {
  const PickleNode* id = reference.is(Kind::kReference) ? reference.items[0] : nullptr;
  if (id == nullptr || !id->is(Kind::kTuple) || id->items.size() < 5) refuse("no storage is named");
  const auto type = std::ranges::find(kStorageTypes, id->items[1]->text, &StorageType::name);
  const PickleNode& key = *id->items[2];
  const PickleNode& elements = *id->items[4];
  if (!id->items[1]->is(Kind::kGlobal) || type == std::end(kStorageTypes) || !key.is(Kind::kText) ||
      !elements.is(Kind::kInteger) || elements.integer < 0 ||
      static_cast<uint64_t>(elements.integer) > kMaxStorageBytes / bytes_of(type->dtype)) {
    refuse("a storage of unknown kind, name or size");
  }
  return {type->dtype, key.text, elements.integer};
}

// A tensor as the pickle describes it.
struct TorchTensor {
  std::string name;
  StorageKey storage;
  int64_t offset = 0;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;

  int64_t elements() const {
    int64_t product = 1;
    for (const int64_t size : sizes) product *= size;
    return product;
  }
  bool is_in_order() const {
    int64_t expected = 1;
    for (size_t d = sizes.size(); d > 0; --d) {
      if (sizes[d - 1] != 1 && strides[d - 1] != expected) return false;
      expected *= sizes[d - 1];
    }
    return true;
  }
};

std::vector<int64_t> integers_of(const PickleNode& tuple) {
  std::vector<int64_t> values;
  for (const PickleNode* item : tuple.items) {
    if (!item->is(Kind::kInteger) || item->integer < 0) refuse("a size that is not a number");
    values.push_back(item->integer);
  }
  return values;
}

// No element may lie outside the storage, and the tensor may not have more elements than the
// storage.
void check_extent(const TorchTensor& tensor) {
  const int64_t available = tensor.storage.elements;
  if (tensor.sizes.size() != tensor.strides.size() || tensor.sizes.size() > 8) {
    refuse("sizes and strides do not match");
  }
  if (tensor.offset > available) refuse("begins outside its storage of {} elements", available);
  int64_t elements = 1;
  int64_t last = tensor.offset;
  bool is_empty = false;
  for (size_t d = 0; d < tensor.sizes.size(); ++d) {
    const int64_t size = tensor.sizes[d];
    is_empty = is_empty || size == 0;
    if (size > available || (size > 0 && elements > available / size)) {
      refuse("more elements than its storage of {} holds", available);
    }
    elements *= size;
    if (size <= 1) continue;
    if (tensor.strides[d] > available / (size - 1)) refuse("a stride beyond its storage");
    last += (size - 1) * tensor.strides[d];
  }
  if (!is_empty && last >= available) {
    refuse("is outside its storage of {} elements", available);
  }
}

TorchTensor tensor_of(const PickleNode* node) {
  if (node->is_call_of("torch._utils._rebuild_parameter") && !node->items[1]->items.empty()) {
    node = node->items[1]->items[0];
  }
  const bool is_tensor = node->is_call_of("torch._utils._rebuild_tensor_v2") ||
                         node->is_call_of("torch._utils._rebuild_tensor");
  if (!is_tensor || node->items[1]->items.size() < 4) refuse("is not a tensor");
  const auto& arguments = node->items[1]->items;
  if (!arguments[1]->is(Kind::kInteger) || arguments[1]->integer < 0 ||
      !arguments[2]->is(Kind::kTuple) || !arguments[3]->is(Kind::kTuple)) {
    refuse("is described by something other than sizes and strides");
  }
  TorchTensor tensor{.storage = storage_key_of(*arguments[0]),
                     .offset = arguments[1]->integer,
                     .sizes = integers_of(*arguments[2]),
                     .strides = integers_of(*arguments[3])};
  check_extent(tensor);
  return tensor;
}

bool is_tensor_call(const PickleNode& node) {
  return node.is(Kind::kCall) && node.items[0]->text.starts_with("torch._utils._rebuild");
}

class StateDictionary {
 public:
  explicit StateDictionary(const PickleNode* root) {
    if (!root->is(Kind::kDictionary)) refuse("holds no dictionary of tensors");
    for (const char* name : {"model", "state_dict", "model_state_dict", "module"}) {
      const PickleNode* inner = root->find(name);
      if (inner == nullptr || !inner->is(Kind::kDictionary)) continue;
      for (size_t i = 0; i < root->items.size(); i += 2) {
        if (root->items[i]->text != name) others.push_back(name_of(*root->items[i]));
      }
      root = inner;
      break;
    }
    for (size_t i = 0; i < root->items.size(); i += 2) add(*root->items[i], root->items[i + 1]);
    if (tensors.empty()) {
      refuse(
          "holds no tensor, only {}; save the model's state_dict() by itself, and give that file",
          others.empty() ? "an empty dictionary" : fmt::format("{}", fmt::join(others, ", ")));
    }
    remove_wrapper();
  }

  std::vector<TorchTensor> tensors;
  std::vector<std::string> others;

 private:
  // DataParallel puts "module." in front of every name.
  void remove_wrapper() {
    constexpr std::string_view kWrapper = "module.";
    const auto is_wrapped = [&](const TorchTensor& t) { return t.name.starts_with(kWrapper); };
    if (!std::ranges::all_of(tensors, is_wrapped)) return;
    for (TorchTensor& tensor : tensors) tensor.name.erase(0, kWrapper.size());
  }

  static std::string name_of(const PickleNode& key) {
    return key.is(Kind::kText) ? key.text : "an entry without a name";
  }

  void add(const PickleNode& key, const PickleNode* value) {
    if (!key.is(Kind::kText) || !is_tensor_call(*value)) {
      others.push_back(name_of(key));
      return;
    }
    try {
      tensors.push_back(tensor_of(value));
    } catch (const Refusal& bad) {
      refuse("{}: {}", key.text, bad.message);
    }
    tensors.back().name = key.text;
  }
};

class TorchArchive {
 public:
  explicit TorchArchive(std::span<const std::byte> file)
      : bytes_left_(file.size()), entries_(stored_zip_entries(file)) {}

  // The folder that everything is in, from the name of its data.pkl.
  std::string folder() const {
    constexpr std::string_view kPickle = "/data.pkl";
    for (const ZipEntry& entry : entries_) {
      if (!entry.name.ends_with(kPickle)) continue;
      return std::string(entry.name.substr(0, entry.name.size() - kPickle.size()));
    }
    refuse("holds no data.pkl: it is a zip file, but not one of torch");
  }

  std::optional<std::span<const std::byte>> find(const std::string& name, uint64_t most) {
    const auto found = std::ranges::find(entries_, name, &ZipEntry::name);
    if (found == entries_.end()) return std::nullopt;
    // Entries that share their bytes were made to take time: each is read once, and whole.
    if (found->bytes.size() > std::min(most, bytes_left_)) {
      refuse("{} has {} bytes, more than expected", name, found->bytes.size());
    }
    bytes_left_ -= found->bytes.size();
    if (!has_its_crc(*found)) {
      refuse("{} does not match its CRC; copy the file again", name);
    }
    return found->bytes;
  }

  std::span<const std::byte> read(const std::string& name, uint64_t most) {
    const auto bytes = find(name, most);
    if (!bytes) refuse("{} is missing", name);
    return *bytes;
  }

 private:
  uint64_t bytes_left_;  // the bytes of the file less those read so far
  std::vector<ZipEntry> entries_;
};

using Storages = std::map<std::string, std::span<const std::byte>>;

StateDictionary read_zip(std::span<const std::byte> file, Storages& storages) {
  TorchArchive archive(file);
  const std::string folder = archive.folder();
  if (const auto order = archive.find(folder + "/byteorder", 16)) {
    const std::string_view text(reinterpret_cast<const char*>(order->data()), order->size());
    if (text != "little") refuse("was written with byte order {}; save it again", text);
  }
  const std::span<const std::byte> pickle = archive.read(folder + "/data.pkl", file.size());
  StateDictionary dictionary(pickle_of(pickle, "data.pkl").root);
  for (const TorchTensor& tensor : dictionary.tensors) {
    if (storages.contains(tensor.storage.key)) continue;
    const uint64_t most =
        static_cast<uint64_t>(tensor.storage.elements * bytes_of(tensor.storage.dtype));
    storages[tensor.storage.key] = archive.read(folder + "/data/" + tensor.storage.key, most);
  }
  return dictionary;
}

StateDictionary read_legacy(std::span<const std::byte> file, Storages& storages) {
  uint64_t at = 0;
  const auto next = [&](std::string_view what) {
    Pickle pickle = pickle_of(file.subspan(at), what);
    at += pickle.bytes;
    return pickle;
  };
  next("the magic number");
  next("the protocol");
  next("the system");
  const Pickle description = next("the dictionary");
  const Pickle keys = next("the list of storages");
  StateDictionary dictionary(description.root);
  // Including those of an optimiser beside the model: only their sizes delimit storages.
  std::map<std::string, int64_t> element_bytes;
  for (const PickleNode& node : description.nodes) {
    if (!node.is(Kind::kReference)) continue;
    const StorageKey storage = storage_key_of(node);
    element_bytes[storage.key] = bytes_of(storage.dtype);
  }
  if (!keys.root->is(Kind::kList)) refuse("has no list of storages");
  for (const PickleNode* key : keys.root->items) {
    const auto known = element_bytes.find(key->text);
    if (known == element_bytes.end()) refuse("storage '{}' belongs to no tensor", key->text);
    uint64_t elements = 0;
    if (file.size() - at < sizeof elements) refuse("ends before storage '{}'", key->text);
    std::memcpy(&elements, file.data() + at, sizeof elements);
    at += sizeof elements;
    if (elements > (file.size() - at) / static_cast<uint64_t>(known->second)) {
      refuse("ends inside storage '{}'", key->text);
    }
    const uint64_t bytes = elements * static_cast<uint64_t>(known->second);
    storages[key->text] = file.subspan(at, bytes);
    at += bytes;
  }
  return dictionary;
}

// The elements in order, one after the other.
std::vector<std::byte> gathered(const TorchTensor& tensor, std::span<const std::byte> storage) {
  const auto width = static_cast<size_t>(bytes_of(tensor.storage.dtype));
  const int64_t elements = tensor.elements();
  std::vector<std::byte> bytes(static_cast<size_t>(elements) * width);
  for (int64_t i = 0; i < elements; ++i) {
    int64_t rest = i;
    int64_t place = tensor.offset;
    for (size_t d = tensor.sizes.size(); d > 0; --d) {
      place += rest % tensor.sizes[d - 1] * tensor.strides[d - 1];
      rest /= tensor.sizes[d - 1];
    }
    std::memcpy(bytes.data() + static_cast<size_t>(i) * width,
                storage.data() + static_cast<size_t>(place) * width, width);
  }
  return bytes;
}

// All tensors together may use up `bytes_left`: any number of tensors may view one storage, and a
// small file must not be able to fill the memory, or a disk when it is converted.
TensorView view_of(const TorchTensor& tensor, const Storages& storages,
                   std::deque<std::vector<std::byte>>& owned, uint64_t& bytes_left) {
  const auto found = storages.find(tensor.storage.key);
  const int64_t width = bytes_of(tensor.storage.dtype);
  if (found == storages.end() || std::ssize(found->second) != tensor.storage.elements * width) {
    refuse("{}: its storage is missing, or not of {} elements", tensor.name,
           tensor.storage.elements);
  }
  TensorView view{.name = tensor.name, .dtype = tensor.storage.dtype, .shape = Shape(tensor.sizes)};
  if (tensor.elements() == 0) return view;
  const auto bytes = static_cast<uint64_t>(tensor.elements() * width);
  if (bytes > bytes_left) refuse("{}: its tensors are far larger than the file", tensor.name);
  bytes_left -= bytes;
  if (tensor.is_in_order()) {
    view.bytes = found->second.subspan(static_cast<size_t>(tensor.offset * width),
                                       static_cast<size_t>(tensor.elements() * width));
  } else {
    view.bytes = owned.emplace_back(gathered(tensor, found->second));
  }
  return view;
}

std::string_view start_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), std::min<size_t>(bytes.size(), 16)};
}

}  // namespace

bool is_torch_file(std::span<const std::byte> bytes) {
  return start_of(bytes).starts_with(kZipStart) || start_of(bytes).starts_with(kLegacyStart);
}

TorchFile::TorchFile(const std::filesystem::path& path) : file_(path) {
  const std::span<const std::byte> bytes = file_.bytes();
  try {
    if (!is_torch_file(bytes)) refuse("is not a file of torch.save");
    Storages storages;
    StateDictionary dictionary = start_of(bytes).starts_with(kZipStart)
                                     ? read_zip(bytes, storages)
                                     : read_legacy(bytes, storages);
    uint64_t bytes_left = 4 * bytes.size();
    for (const TorchTensor& tensor : dictionary.tensors) {
      tensors_.push_back(view_of(tensor, storages, storage_, bytes_left));
    }
    other_entries_ = std::move(dictionary.others);
  } catch (const Refusal& bad) {
    throw_data_error("{}: {}", path.string(), bad.message);
  }
}

}  // namespace cloze::formats
