#include <algorithm>
#include <cstring>
#include <vector>

#include "aten/engine/copy.h"
#include "aten/engine/view.h"
#include "backends/cpu/convolution.h"
#include "backends/cpu/gemm/matrix.h"
#include "backends/cpu/support/dtype_switch.h"
#include "c10/process/parallel.h"
#include "c10/tensor/storage.h"

namespace sy::cpu {

ConvolutionImage::ConvolutionImage(const Tensor& batch, int64_t n, bool read) {
  const size_t dims = batch.sizes().size() - 1;
  own_ = alias_without_view(batch, batch.sizes().slice(1, dims),
                            batch.strides().slice(1, dims),
                            batch.storage_offset() + n * batch.strides()[0]);
  const ScalarType dtype = work_dtype(batch.dtype());
  if (own_.dtype() == dtype && own_.is_contiguous()) {
    image_ = own_;
  } else if (read) {
    image_ = contiguous_cpu(own_, dtype);
  } else {
    image_ = Tensor(make_tensor(own_.sizes(), dtype, Device(kCPU)));
  }
}

void ConvolutionImage::store() const {
  if (!image_.is_same(own_)) copy_cpu(own_, image_);
}

RowOverlap row_overlap(const ConvolutionGeometry& g, int64_t first,
                       int64_t length, int64_t k) {
  const int64_t s = g.stride[2];
  // Place i of the row is at x = from + i * s.
  const int64_t from = first * s - g.padding[2] + k * g.dilation[2];
  const int64_t begin = from >= 0 ? 0 : (-from + s - 1) / s;
  const int64_t end = from >= g.x[2] ? 0 : (g.x[2] - 1 - from) / s + 1;
  const int64_t b = std::min(begin, length);
  return {b, std::max(b, std::min(end, length)), from + b * s};
}

int64_t row_of_x(const ConvolutionGeometry& g, int64_t y0, int64_t y1,
                 int64_t k0, int64_t k1) {
  const int64_t a = y0 * g.stride[0] - g.padding[0] + k0 * g.dilation[0];
  const int64_t b = y1 * g.stride[1] - g.padding[1] + k1 * g.dilation[1];
  if (a < 0 || a >= g.x[0] || b < 0 || b >= g.x[1]) return -1;
  return a * g.x[1] + b;
}

bool is_product(const ConvolutionGeometry& g) {
  return g.taps() == 1 && g.x_places() == g.y_places() &&
         std::all_of(g.padding, g.padding + 3,
                     [](int64_t p) { return p == 0; }) &&
         std::all_of(g.stride, g.stride + 3, [](int64_t s) { return s == 1; });
}

namespace {

// Columns at a time: they stay in the second cache.
constexpr int64_t kTileBytes = 512 << 10;
// Channels of x, and of y, that one thread takes at a time.
constexpr int64_t kChannels = 32;
constexpr int64_t kOutChannels = 64;

std::vector<ConvolutionRow> rows_of_tile(const ConvolutionGeometry& g,
                                         int64_t begin, int64_t end) {
  std::vector<ConvolutionRow> rows;
  while (begin < end) {
    const int64_t at = begin % g.y[2], row = begin / g.y[2];
    const int64_t length = std::min(end - begin, g.y[2] - at);
    rows.push_back({{row / g.y[1], row % g.y[1], at}, length});
    begin += length;
  }
  return rows;
}

// f(row of columns, channel, k0, k1, k2) for the taps of channels.
template <class F>
void for_taps(const ConvolutionGeometry& g, int64_t channels, const F& f) {
  int64_t row = 0;
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t k0 = 0; k0 < g.kernel[0]; ++k0) {
      for (int64_t k1 = 0; k1 < g.kernel[1]; ++k1) {
        for (int64_t k2 = 0; k2 < g.kernel[2]; ++k2) f(row++, c, k0, k1, k2);
      }
    }
  }
}

// Writes the elements that each tap of `channels` channels of x sees from the
// places of a tile: one row of `width` columns for each tap.
template <class T>
void write_columns(const ConvolutionGeometry& g, const T* x, int64_t channels,
                   const std::vector<ConvolutionRow>& rows, int64_t width,
                   T* columns) {
  const int64_t stride = g.stride[2];
  for_taps(g, channels,
           [&](int64_t r, int64_t c, int64_t k0, int64_t k1, int64_t k2) {
             T* to = columns + r * width;
             const T* const plane = x + c * g.x_places();
             for (const ConvolutionRow& row : rows) {
               const int64_t at =
                   row_of_x(g, row.place[0], row.place[1], k0, k1);
               RowOverlap o{0, 0, 0};
               if (at >= 0) o = row_overlap(g, row.place[2], row.length, k2);
               std::fill(to, to + o.begin, T{});
               const T* const from = plane + at * g.x[2] + o.start;
               if (stride == 1) {
                 std::copy_n(from, o.end - o.begin, to + o.begin);
               } else {
                 for (int64_t i = o.begin; i < o.end; ++i) {
                   to[i] = from[(i - o.begin) * stride];
                 }
               }
               std::fill(to + o.end, to + row.length, T{});
               to += row.length;
             }
           });
}

// The reverse: columns are added to what they see.
template <class T>
void add_columns(const ConvolutionGeometry& g, const T* columns,
                 int64_t channels, const std::vector<ConvolutionRow>& rows,
                 int64_t width, T* x) {
  const int64_t stride = g.stride[2];
  for_taps(
      g, channels,
      [&](int64_t r, int64_t c, int64_t k0, int64_t k1, int64_t k2) {
        const T* from = columns + r * width;
        T* const plane = x + c * g.x_places();
        for (const ConvolutionRow& row : rows) {
          const int64_t at = row_of_x(g, row.place[0], row.place[1], k0, k1);
          if (at >= 0) {
            const RowOverlap o = row_overlap(g, row.place[2], row.length, k2);
            T* const to = plane + at * g.x[2] + o.start;
            const T* const values = from + o.begin;
            const int64_t n = o.end - o.begin;
            if (stride == 1) {
              for (int64_t i = 0; i < n; ++i) {
                to[i] = static_cast<T>(to[i] + values[i]);
              }
            } else {
              for (int64_t i = 0; i < n; ++i) {
                to[i * stride] = static_cast<T>(to[i * stride] + values[i]);
              }
            }
          }
          from += row.length;
        }
      });
}

// One convolution with all that its images share.
class Columns {
 public:
  Columns(const Convolution& c, ConvolutionPart part)
      : c_(c),
        g_(c.g),
        dtype_(work_dtype(c.x.dtype())),
        item_(static_cast<int64_t>(element_size(dtype_))),
        is_plain_(is_product(g_)) {
    if (part != ConvolutionPart::kByWeight) w_ = contiguous_cpu(c.w, dtype_);
    if (c.bias.defined()) bias_ = contiguous_cpu(c.bias, dtype_);
    const int64_t row =
        part == ConvolutionPart::kForward ? g_.row() : kChannels * g_.taps();
    tile_ =
        std::clamp<int64_t>(kTileBytes / (std::max<int64_t>(1, row) * item_),
                            64, std::max<int64_t>(64, g_.y_places()));
  }

  void forward(const char* x, char* y) const {
    const int64_t places = g_.y_places();
    fill_with_bias(y, g_.out, places);
    const int64_t tiles = is_plain_ ? 1 : (places + tile_ - 1) / tile_;
    parallel_for(0, g_.groups * tiles, grain(g_.group_out() * g_.row() * tile_),
                 [&](int64_t begin, int64_t end) {
                   Storage room;
                   for (int64_t i = begin; i < end; ++i) {
                     const int64_t first = i % tiles * tile_;
                     const int64_t last = std::min(places, first + tile_);
                     forward_tile(x, y, i / tiles, is_plain_ ? 0 : first,
                                  is_plain_ ? places : last, room);
                   }
                 });
  }

  void by_input(const char* y, char* x) const {
    fill_with_bias(x, g_.in, g_.x_places());
    const int64_t step = is_plain_ ? g_.group_in() : kChannels;
    const int64_t blocks = (g_.group_in() + step - 1) / step;
    parallel_for(0, g_.groups * blocks,
                 grain(step * g_.taps() * g_.group_out() * g_.y_places()),
                 [&](int64_t begin, int64_t end) {
                   Storage room;
                   for (int64_t i = begin; i < end; ++i) {
                     const int64_t first = i % blocks * step;
                     const int64_t n = std::min(step, g_.group_in() - first);
                     by_input_block(y, x, i / blocks, first, n, room);
                   }
                 });
  }

  // Adds to w unless `is_first`.
  void by_weight(const char* x, const char* y, char* w, bool is_first) const {
    const int64_t in = is_plain_ ? g_.group_in() : kChannels;
    const int64_t out = is_plain_ ? g_.group_out() : kOutChannels;
    const int64_t blocks = (g_.group_in() + in - 1) / in;
    const int64_t outs = (g_.group_out() + out - 1) / out;
    parallel_for(0, g_.groups * blocks * outs,
                 grain(in * g_.taps() * out * g_.y_places()),
                 [&](int64_t begin, int64_t end) {
                   Storage room;
                   for (int64_t i = begin; i < end; ++i) {
                     const int64_t channel = i / outs % blocks * in;
                     const int64_t first = i % outs * out;
                     by_weight_block(
                         x, y, w, i / (blocks * outs), channel,
                         std::min(in, g_.group_in() - channel), first,
                         std::min(out, g_.group_out() - first), is_first, room);
                   }
                 });
  }

 private:
  static int64_t grain(int64_t work) {
    return std::max<int64_t>(1, (1 << 17) / std::max<int64_t>(1, work));
  }

  char* columns(Storage& room, int64_t rows) const {
    const auto bytes = static_cast<size_t>(rows * tile_ * item_);
    if (!room || room->nbytes() < bytes) {
      room = StorageImpl::allocate(bytes, Device(kCPU));
    }
    return static_cast<char*>(room->data());
  }

  Matrix matrix(const char* data, int64_t rows, int64_t cols,
                int64_t row_stride) const {
    return {const_cast<char*>(data), rows, cols, row_stride, 1};
  }

  void fill_with_bias(char* to, int64_t channels, int64_t places) const {
    const auto bytes = static_cast<size_t>(channels * places * item_);
    if (!bias_.defined()) {
      std::memset(to, 0, bytes);
      return;
    }
    visit_element_size(static_cast<size_t>(item_), [&]<class T>() {
      const T* const bias = static_cast<const T*>(bias_.raw_data());
      T* const out = reinterpret_cast<T*>(to);
      for (int64_t c = 0; c < channels; ++c) {
        std::fill_n(out + c * places, places, bias[c]);
      }
    });
  }

  void write(const char* x, int64_t channels,
             const std::vector<ConvolutionRow>& rows, int64_t width,
             char* to) const {
    visit_element_size(static_cast<size_t>(item_), [&]<class T>() {
      write_columns(g_, reinterpret_cast<const T*>(x), channels, rows, width,
                    reinterpret_cast<T*>(to));
    });
  }

  const char* weight(int64_t group, int64_t channel) const {
    return static_cast<const char*>(w_.raw_data()) +
           (group * g_.group_out() * g_.row() + channel * g_.taps()) * item_;
  }

  void forward_tile(const char* x, char* y, int64_t group, int64_t first,
                    int64_t last, Storage& room) const {
    const int64_t width = last - first;
    const char* const source =
        x + group * g_.group_in() * g_.x_places() * item_;
    Matrix b = matrix(source, g_.row(), width, g_.x_places());
    if (!is_plain_) {
      char* const to = columns(room, g_.row());
      write(source, g_.group_in(), rows_of_tile(g_, first, last), width, to);
      b = matrix(to, g_.row(), width, width);
    }
    char* const target =
        y + (group * g_.group_out() * g_.y_places() + first) * item_;
    multiply(c_.op, dtype_,
             matrix(weight(group, 0), g_.group_out(), g_.row(), g_.row()), b,
             matrix(target, g_.group_out(), width, g_.y_places()), 1,
             bias_.defined() ? 1 : 0, nullptr);
  }

  void by_input_block(const char* y, char* x, int64_t group, int64_t channel,
                      int64_t n, Storage& room) const {
    const int64_t places = g_.y_places();
    const Matrix w =
        matrix(weight(group, channel), g_.group_out(), n * g_.taps(), g_.row())
            .transposed();
    const char* const source = y + group * g_.group_out() * places * item_;
    char* const target =
        x + (group * g_.group_in() + channel) * g_.x_places() * item_;
    if (is_plain_) {
      multiply(c_.op, dtype_, w, matrix(source, g_.group_out(), places, places),
               matrix(target, n, places, places), 1, bias_.defined() ? 1 : 0,
               nullptr);
      return;
    }
    char* const to = columns(room, n * g_.taps());
    for (int64_t first = 0; first < places; first += tile_) {
      const int64_t width = std::min(tile_, places - first);
      multiply(c_.op, dtype_, w,
               matrix(source + first * item_, g_.group_out(), width, places),
               matrix(to, n * g_.taps(), width, width), 1, 0, nullptr);
      const auto rows = rows_of_tile(g_, first, first + width);
      visit_work_dtype(c_.op, dtype_, [&]<class T>() {
        add_columns(g_, reinterpret_cast<const T*>(to), n, rows, width,
                    reinterpret_cast<T*>(target));
      });
    }
  }

  void by_weight_block(const char* x, const char* y, char* w, int64_t group,
                       int64_t channel, int64_t n, int64_t out, int64_t outs,
                       bool is_first, Storage& room) const {
    const int64_t places = g_.y_places();
    const char* const source =
        x + (group * g_.group_in() + channel) * g_.x_places() * item_;
    const char* const grad =
        y + (group * g_.group_out() + out) * places * item_;
    char* const target =
        w + ((group * g_.group_out() + out) * g_.row() + channel * g_.taps()) *
                item_;
    const int64_t tile = is_plain_ ? places : tile_;
    for (int64_t first = 0; first < places; first += tile) {
      const int64_t width = std::min(tile, places - first);
      Matrix b = matrix(source + first * item_, n, width, g_.x_places());
      if (!is_plain_) {
        char* const to = columns(room, n * g_.taps());
        write(source, n, rows_of_tile(g_, first, first + width), width, to);
        b = matrix(to, n * g_.taps(), width, width);
      }
      multiply(c_.op, dtype_, matrix(grad + first * item_, outs, width, places),
               b.transposed(), matrix(target, outs, n * g_.taps(), g_.row()), 1,
               is_first && first == 0 ? 0 : 1, nullptr);
    }
  }

  const Convolution& c_;
  const ConvolutionGeometry& g_;
  ScalarType dtype_;
  int64_t item_;
  bool is_plain_;  // x itself is the columns
  int64_t tile_;
  Tensor w_, bias_;
};

}  // namespace

void convolve_by_columns(const Convolution& c, ConvolutionPart part) {
  const Columns columns(c, part);
  if (part == ConvolutionPart::kByWeight) {
    const ScalarType dtype = work_dtype(c.w.dtype());
    const Tensor w =
        dtype == c.w.dtype() && c.w.is_contiguous()
            ? c.w
            : Tensor(make_tensor(c.w.sizes(), dtype, Device(kCPU)));
    for (int64_t n = 0; n < c.g.batch; ++n) {
      const ConvolutionImage x(c.x, n, true), y(c.y, n, true);
      columns.by_weight(static_cast<const char*>(x.data()),
                        static_cast<const char*>(y.data()),
                        static_cast<char*>(w.raw_data()), n == 0);
    }
    if (!w.is_same(c.w)) copy_cpu(c.w, w);
    return;
  }
  parallel_for(0, c.g.batch, 1, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      const bool forward = part == ConvolutionPart::kForward;
      const ConvolutionImage from(forward ? c.x : c.y, n, true);
      const ConvolutionImage to(forward ? c.y : c.x, n, false);
      if (forward) {
        columns.forward(static_cast<const char*>(from.data()),
                        static_cast<char*>(to.data()));
      } else {
        columns.by_input(static_cast<const char*>(from.data()),
                         static_cast<char*>(to.data()));
      }
      to.store();
    }
  });
}

}  // namespace sy::cpu
