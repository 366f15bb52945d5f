#include "picture/formats.h"

#if VISION_JPEG
#include <csetjmp>
#include <cstdio>

#include <jpeglib.h>
#endif

namespace vision {

#if VISION_JPEG

namespace {

// What libjpeg needs, and where it goes on an error: it is written in C,
// through which nothing may be thrown.
struct Errors {
  jpeg_error_mgr base{};
  std::jmp_buf jump{};
  char text[JMSG_LENGTH_MAX] = "";
};

void leave(j_common_ptr info) {
  auto* const errors = reinterpret_cast<Errors*>(info->err);
  errors->base.format_message(info, errors->text);
  std::longjmp(errors->jump, 1);
}

class Reader {
 public:
  Reader(const std::string& path, const std::string& bytes) : path_(path) {
    info_.err = jpeg_std_error(&errors_.base);
    errors_.base.error_exit = leave;
    errors_.base.output_message = [](j_common_ptr) {};
    jpeg_create_decompress(&info_);
    jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(bytes.data()),
                 bytes.size());
  }
  Reader(const Reader&) = delete;
  ~Reader() { jpeg_destroy_decompress(&info_); }

  Pixels read() {
    if (!begin()) bad_picture(path_, errors_.text);
    Pixels p{info_.output_height, info_.output_width, {}};
    p.bytes.resize(static_cast<size_t>(3 * p.width * p.height));
    if (!fill(p.bytes.data(), static_cast<size_t>(3 * p.width))) {
      bad_picture(path_, errors_.text);
    }
    return p;
  }

 private:
  // These have no objects that a jump would leave undestroyed.
  bool begin() {
    if (setjmp(errors_.jump) != 0) return false;
    jpeg_read_header(&info_, TRUE);
    info_.out_color_space = JCS_RGB;
    jpeg_start_decompress(&info_);
    return true;
  }
  bool fill(unsigned char* to, size_t row) {
    if (setjmp(errors_.jump) != 0) return false;
    while (info_.output_scanline < info_.output_height) {
      JSAMPROW at = to + row * info_.output_scanline;
      jpeg_read_scanlines(&info_, &at, 1);
    }
    jpeg_finish_decompress(&info_);
    return true;
  }

  std::string path_;
  Errors errors_;
  jpeg_decompress_struct info_{};
};

}  // namespace

Pixels decode_jpeg(const std::string& path, const std::string& bytes) {
  return Reader(path, bytes).read();
}

#else

Pixels decode_jpeg(const std::string& path, const std::string&) {
  bad_picture(path, "JPEG: this program was built without libjpeg");
}

#endif

}  // namespace vision
