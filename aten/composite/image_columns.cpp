// The windows of images as columns, made of index_select and index_add: for
// backends that have no kernels of their own for it.

#include "aten/engine/widened.h"
#include "aten/operators.h"
#include "aten/ops/factory.h"
#include "aten/ops/image_kernels.h"
#include "aten/ops/indexing.h"
#include "aten/ops/padding.h"
#include "aten/tensor_new.h"

namespace sy::composite {

namespace {

// Images with their padding, and the place in one of each element of each
// window: elements of the kernel by windows.
struct Columns {
  int64_t height, width, top, left, windows;
  Tensor places;

  Columns(IntArrayRef size, IntArrayRef kernel, IntArrayRef dilation,
          IntArrayRef padding, IntArrayRef stride, Device device)
      : height(size[0] + 2 * padding[0]),
        width(size[1] + 2 * padding[1]),
        top(padding[0]),
        left(padding[1]) {
    const int64_t high =
        (height - dilation[0] * (kernel[0] - 1) - 1) / stride[0] + 1;
    const int64_t wide =
        (width - dilation[1] * (kernel[1] - 1) - 1) / stride[1] + 1;
    windows = high * wide;
    std::vector<int64_t> at;
    for (int64_t i = 0; i < kernel[0]; ++i) {
      for (int64_t j = 0; j < kernel[1]; ++j) {
        for (int64_t y = 0; y < high; ++y) {
          for (int64_t x = 0; x < wide; ++x) {
            at.push_back((y * stride[0] + i * dilation[0]) * width +
                         x * stride[1] + j * dilation[1]);
          }
        }
      }
    }
    places = sy::tensor(at, kLong).to(device);
  }
};

}  // namespace

Tensor im2col_by_index(const Tensor& self, IntArrayRef kernel_size,
                       IntArrayRef dilation, IntArrayRef padding,
                       IntArrayRef stride) {
  const int64_t size[] = {self.size(-2), self.size(-1)};
  const Columns c(size, kernel_size, dilation, padding, stride, self.device());
  const Tensor padded =
      sy::constant_pad_nd(self, {c.left, c.left, c.top, c.top}, Scalar(0));
  std::vector<int64_t> planes = self.sizes().vec();
  planes.pop_back();
  planes.back() = c.height * c.width;
  const Tensor columns = sy::index_select(padded.reshape(planes), -1, c.places);
  planes.pop_back();
  planes.back() *= kernel_size[0] * kernel_size[1];
  planes.push_back(c.windows);
  return columns.reshape(planes);
}

Tensor col2im_by_index(const Tensor& self, IntArrayRef output_size,
                       IntArrayRef kernel_size, IntArrayRef dilation,
                       IntArrayRef padding, IntArrayRef stride) {
  const Columns c(output_size, kernel_size, dilation, padding, stride,
                  self.device());
  const ScalarType given = self.scalar_type();
  // Sums of narrow floats are rounded once.
  const Tensor x = widened(self);
  const int64_t kernel = kernel_size[0] * kernel_size[1];
  std::vector<int64_t> sizes = self.sizes().vec();
  sizes.pop_back();
  sizes.back() /= kernel;
  sizes.push_back(kernel * c.windows);
  const Tensor columns = x.reshape(sizes);
  sizes.back() = c.height * c.width;
  const Tensor planes =
      sy::zeros(sizes, x.options()).index_add(-1, c.places, columns);
  sizes.back() = c.height;
  sizes.push_back(c.width);
  return planes.reshape(sizes)
      .narrow(-2, c.top, output_size[0])
      .narrow(-1, c.left, output_size[1])
      .to(given)
      .contiguous();
}

}  // namespace sy::composite
