#include <algorithm>
#include <vector>

#include "backends/cpu/support/images.h"
#include "backends/cpu/support/scratch.h"
#include "backends/cpu/upsample.h"
#include "c10/process/parallel.h"

// uint8 images as Pillow resizes them: weights of 16 bits, each axis rounded.

namespace sy::cpu {

namespace {

struct ByteTap {
  int64_t at;
  int32_t weight;
};

// Taps [start[i], start[i + 1]) are those of element i.
struct ByteAxis {
  std::vector<ByteTap> taps;
  std::vector<size_t> start{0};
  int shift = 0;

  int64_t count() const { return static_cast<int64_t>(start.size()) - 1; }
};

ByteAxis byte_axis(const ResizeAxis<double>& a) {
  struct Tap {
    int64_t at;
    double weight;
  };
  std::vector<Tap> taps;
  ByteAxis out;
  double most = 0;
  for (int64_t i = 0; i < a.count; ++i) {
    for (int64_t k = 0; k < a.taps; ++k) {
      if (a.index(k, i) < 0) continue;
      // Taps that fall together at the border are one.
      if (taps.size() > out.start.back() && taps.back().at == a.index(k, i)) {
        taps.back().weight += a.weight_of(k, i);
      } else {
        taps.push_back({a.index(k, i), a.weight_of(k, i)});
      }
    }
    out.start.push_back(taps.size());
  }
  for (const Tap& t : taps) most = std::max(most, t.weight);
  while (out.shift < 22 && 0.5 + most * (2 << out.shift) < (1 << 15)) {
    ++out.shift;
  }
  for (const Tap& t : taps) {
    const double w = t.weight * (1 << out.shift);
    out.taps.push_back({t.at, static_cast<int32_t>(w + (w < 0 ? -0.5 : 0.5))});
  }
  return out;
}

uint8_t rounded(int32_t sum, int shift) {
  return static_cast<uint8_t>(std::clamp(sum >> shift, 0, 255));
}

int32_t half(int shift) { return shift == 0 ? 0 : 1 << (shift - 1); }

void resize_row(const ByteAxis& a, const uint8_t* from, uint8_t* to) {
  for (size_t i = 0; i + 1 < a.start.size(); ++i) {
    int32_t sum = half(a.shift);
    for (size_t k = a.start[i]; k < a.start[i + 1]; ++k) {
      sum += a.taps[k].weight * from[a.taps[k].at];
    }
    to[i] = rounded(sum, a.shift);
  }
}

void resize_column(const ByteAxis& a, size_t i, const uint8_t* rows, int64_t n,
                   int32_t* sums, uint8_t* to) {
  std::fill(sums, sums + n, half(a.shift));
  for (size_t k = a.start[i]; k < a.start[i + 1]; ++k) {
    const uint8_t* const row = rows + a.taps[k].at * n;
    const int32_t w = a.taps[k].weight;
    for (int64_t x = 0; x < n; ++x) sums[x] += w * row[x];
  }
  for (int64_t x = 0; x < n; ++x) to[x] = rounded(sums[x], a.shift);
}

}  // namespace

void resize_bytes(const ResizeRequest& r, const Tensor& self,
                  const Tensor& out) {
  const Images in = read_images(self, 2, kByte, false);
  const Images room = room_for_images(out, 2, kByte, false);
  const auto axis = [&](int64_t k) {
    return byte_axis(r.axis<double>(k, in.size[k], room.size[k]));
  };
  const ByteAxis height = axis(1), width = axis(2);
  // A dim whose size stays is left as it is.
  const bool rows = in.size[2] != room.size[2];
  const bool columns = in.size[1] != room.size[1];
  const int64_t wide = width.count();
  parallel_for(
      0, in.planes(), grain_of(in.places() + room.places()),
      [&](int64_t begin, int64_t end) {
        ScratchVector<uint8_t> resized(static_cast<size_t>(in.size[1] * wide));
        ScratchVector<int32_t> sums(static_cast<size_t>(wide));
        for (int64_t p = begin; p < end; ++p) {
          const uint8_t* from = in.data<uint8_t>() + p * in.places();
          uint8_t* const to = room.data<uint8_t>() + p * room.places();
          if (rows) {
            for (int64_t y = 0; y < in.size[1]; ++y) {
              resize_row(width, from + y * in.size[2],
                         resized.data() + y * wide);
            }
            from = resized.data();
          }
          if (!columns) {
            std::copy(from, from + room.places(), to);
            continue;
          }
          for (int64_t y = 0; y < height.count(); ++y) {
            resize_column(height, static_cast<size_t>(y), from, wide,
                          sums.data(), to + y * wide);
          }
        }
      });
  store_images(room, out);
}

}  // namespace sy::cpu
