// Compressed text: gzip of one member or of many, with zeros after the last or without; Zstandard
// of one frame or of many, with windows up to the largest, 2 GiB.
// Sources: RFC 1952; RFC 8878; the manuals of zlib ("inflate") and zstd ("Streaming
// decompression").
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>

namespace cloze::formats {

enum class Compression { kNone, kGzip, kZstandard };

// Tells it by the first bytes.
Compression compression_of(std::span<const std::byte> bytes);

// Visits what the bytes hold, in pieces. DataError that names the file and the compressed offset
// where they break or end too soon.
void decompress(Compression compression, std::span<const std::byte> bytes,
                const std::filesystem::path& file,
                const std::function<void(std::string_view)>& visit);

}  // namespace cloze::formats
