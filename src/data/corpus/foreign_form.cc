#include "data/corpus/foreign_form.h"

#include "base/error.h"

namespace cloze::data {
namespace {

using namespace std::string_view_literals;

struct ForeignForm {
  std::string_view beginning;
  std::string_view name;
  std::string_view advice;
};
constexpr std::string_view kUtf16 = "convert it: iconv -f UTF-16 -t UTF-8";
constexpr std::string_view kUtf32 = "convert it: iconv -f UTF-32 -t UTF-8";
constexpr std::string_view kUnpack = "unpack it first";
constexpr std::string_view kConvert = "convert it to text first";
constexpr std::string_view kWriteLines =
    "write its texts as JSON Lines first (pandas: to_json(..., orient='records', lines=True))";
constexpr std::string_view kNameText = "name a file of text";

// Forms of other programs, by their first bytes. The ones that begin with letters go on with bytes
// that no text has there.
constexpr ForeignForm kForeignForms[] = {
    {"\xFF\xFE\x00\x00"sv, "UTF-32", kUtf32},
    {"\x00\x00\xFE\xFF"sv, "UTF-32", kUtf32},
    {"\xFF\xFE"sv, "UTF-16", kUtf16},
    {"\xFE\xFF"sv, "UTF-16", kUtf16},
    {"BZh"sv, "bzip2", "for a dump, set --input-format wikipedia; pipe other text through bzcat"},
    {"\xFD\x37zXZ"sv, "xz", "pipe it through xzcat"},
    {"\x04\x22\x4D\x18"sv, "lz4", "pipe it through lz4cat"},
    {"PK\x03\x04"sv, "a zip archive (so are .docx, .epub, .xlsx, .npz and PyTorch's files)",
     "unpack it, or convert it to text first"},
    {"7z\xBC\xAF\x27\x1C"sv, "a 7-Zip archive", kUnpack},
    {"Rar!\x1A\x07"sv, "a RAR archive", kUnpack},
    {"%PDF-"sv, "PDF", "convert it to text first (pdftotext)"},
    {"%!PS"sv, "PostScript", "convert it to text first (ps2txt)"},
    {"{\\rtf"sv, "RTF", kConvert},
    {"\xD0\xCF\x11\xE0"sv, "an old Office document (.doc, .xls)", kConvert},
    {"PAR1\x15"sv, "Parquet", kWriteLines},
    {"ARROW1\x00\x00"sv, "Arrow", kWriteLines},
    {"Obj\x01"sv, "Avro", kWriteLines},
    {"SQLite format 3\x00"sv, "an SQLite database", "write its texts to a file first"},
    {"\x89HDF\r\n\x1A\n"sv, "HDF5", "records in it are read with --train-file"},
    {"GGUF\x02\x00"sv, "a model (GGUF)", kNameText},
    {"GGUF\x03\x00"sv, "a model (GGUF)", kNameText},
    {"\x93NUMPY"sv, "a NumPy array", kNameText},
    {"\x7F"
     "ELF"sv,
     "a program (ELF)", kNameText},
    {"\x89PNG"sv, "a picture (PNG)", kNameText},
    {"\xFF\xD8\xFF"sv, "a picture (JPEG)", kNameText},
    {"GIF87a"sv, "a picture (GIF)", kNameText},
    {"GIF89a"sv, "a picture (GIF)", kNameText},
    {"OggS\x00"sv, "sound (Ogg)", kNameText},
    {"\x80\x02"sv, "a Python pickle", kNameText},
    {"\x80\x03"sv, "a Python pickle", kNameText},
    {"\x80\x04"sv, "a Python pickle", kNameText},
    {"\x80\x05"sv, "a Python pickle", kNameText}};

// A ModelProto of ONNX begins with field 1, the version, a small number; then comes field 2 (the
// producer's name), 7 (the graph) or 8 (the operators), all of them bytes with their length.
bool is_onnx(std::string_view text) {
  return text.size() > 3 && text[0] == '\x08' && text[1] > 0 && text[1] < 0x20 &&
         (text[2] == '\x12' || text[2] == '\x3A' || text[2] == '\x42');
}

// safetensors: the length of the header in 8 bytes, then the header, a JSON object.
bool is_safetensors(std::string_view text) {
  constexpr size_t kLength = 8;
  return text.size() > kLength + 2 && text.substr(4, 4) == "\0\0\0\0"sv &&
         text.substr(kLength, 2) == "{\"";
}

// The magic number of a tar header is not at its beginning.
bool is_tar(std::string_view text) {
  constexpr size_t kMagic = 257;
  return text.size() > kMagic && text.substr(kMagic).starts_with("ustar");
}

}  // namespace

void check_not_foreign(std::string_view text, const std::filesystem::path& file) {
  const auto refuse = [&](std::string_view name, std::string_view advice) {
    throw_user_error("{} is {}, not UTF-8 text; {}", file.string(), name, advice);
  };
  for (const ForeignForm& form : kForeignForms) {
    if (text.starts_with(form.beginning)) refuse(form.name, form.advice);
  }
  if (is_onnx(text)) refuse("a model (ONNX)", kNameText);
  if (is_safetensors(text)) refuse("a model (safetensors)", kNameText);
  if (is_tar(text)) refuse("a tar archive", kUnpack);
}

}  // namespace cloze::data
