#include "picture/file.h"

#include <sy/io.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "picture/formats.h"

namespace vision {
namespace {

std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path)) {
    bad_picture(path, "expected a file that can be read");
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

Pixels decode(const std::string& path) {
  const std::string bytes = read_bytes(path);
  if (bytes.starts_with("P6")) return decode_ppm(path, bytes);
  if (bytes.starts_with("\x89PNG")) return decode_png(path, bytes);
  if (bytes.starts_with("\xff\xd8")) return decode_jpeg(path, bytes);
  bad_picture(path, "expected a picture: PPM (P6), PNG or JPEG");
}

}  // namespace

void bad_picture(const std::string& path, const std::string& what) {
  throw sy::FileError("[" + path + "] " + what);
}

Tensor read_picture(const std::string& path) {
  const Pixels p = decode(path);
  const Tensor rows =
      sy::empty({p.height, p.width, 3}, sy::TensorOptions(sy::kByte));
  std::copy(p.bytes.begin(), p.bytes.end(),
            static_cast<uint8_t*>(rows.data_ptr()));
  return rows.permute({2, 0, 1}).contiguous();
}

void write_picture(const std::string& path, const Tensor& picture) {
  SY_CHECK(picture.dim() == 3 && picture.size(0) == 3 &&
               picture.scalar_type() == sy::kByte,
           Value, "[{}] picture: expected uint8 [3, height, width], got {}",
           path, picture.sizes());
  const Tensor rows = picture.cpu().permute({1, 2, 0}).contiguous();
  const auto* const from = static_cast<const uint8_t*>(rows.data_ptr());
  const Pixels p{rows.size(0), rows.size(1), {from, from + rows.numel()}};
  const bool png = path.ends_with(".png");
  if (!png && !path.ends_with(".ppm")) {
    bad_picture(path, "expected a name that ends in .png or .ppm");
  }
  const std::string bytes = png ? encode_png(path, p) : encode_ppm(p);
  std::ofstream file(path, std::ios::binary);
  file << bytes << std::flush;
  if (!file) bad_picture(path, "expected a file that can be written");
}

}  // namespace vision
