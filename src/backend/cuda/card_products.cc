// Products of a card, as the kernels of backend/gpu ask for them.
#include <map>
#include <mutex>

#include "backend/cuda/cuda_stream.h"
#include "backend/cuda/product.h"

namespace cloze::backend::cuda {
namespace {

// The library keeps what it has loaded for a card with a handle that belongs to the card.
Products& products_of(int card) {
  static std::mutex mutex;
  static std::map<int, Products> all;
  const std::lock_guard lock(mutex);
  return all.try_emplace(card, cublas_lt()).first->second;
}

}  // namespace
}  // namespace cloze::backend::cuda

namespace cloze::backend::gpu {

void run_on_card(const Product& product, const ProductAddresses& addresses, DeviceAddress workspace,
                 Stream& stream) {
  auto& of_card = static_cast<cuda::CudaStream&>(stream);
  cuda::products_of(of_card.card()).run(product, addresses, workspace.as<void>(), of_card.handle());
}

}  // namespace cloze::backend::gpu
