#include "picture/formats.h"

#if VISION_PNG
#include <png.h>
#endif

namespace vision {

#if VISION_PNG

namespace {

// libpng's description of a picture, which keeps memory of its own.
struct Image : png_image {
  Image() : png_image{} { version = PNG_IMAGE_VERSION; }
  Image(const Image&) = delete;
  ~Image() { png_image_free(this); }
  void check(const std::string& path, bool done) const {
    if (!done) bad_picture(path, message);
  }
};

}  // namespace

Pixels decode_png(const std::string& path, const std::string& bytes) {
  Image image;
  image.check(path, png_image_begin_read_from_memory(&image, bytes.data(),
                                                     bytes.size()) != 0);
  image.format = PNG_FORMAT_RGB;
  Pixels p{image.height, image.width, {}};
  p.bytes.resize(PNG_IMAGE_SIZE(image));
  const png_color black{};
  image.check(path, png_image_finish_read(&image, &black, p.bytes.data(), 0,
                                          nullptr) != 0);
  return p;
}

std::string encode_png(const std::string& path, const Pixels& p) {
  Image image;
  image.width = static_cast<png_uint_32>(p.width);
  image.height = static_cast<png_uint_32>(p.height);
  image.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string out(size, '\0');
  image.check(path, png_image_write_to_memory(&image, out.data(), &size, 0,
                                              p.bytes.data(), 0, nullptr) != 0);
  out.resize(size);
  return out;
}

#else

Pixels decode_png(const std::string& path, const std::string&) {
  bad_picture(path, "PNG: this program was built without libpng");
}

std::string encode_png(const std::string& path, const Pixels&) {
  bad_picture(path, "PNG: this program was built without libpng; write .ppm");
}

#endif

}  // namespace vision
