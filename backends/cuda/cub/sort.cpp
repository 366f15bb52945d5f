#include "backends/cuda/cub/sort.h"

#include <limits>

#include "aten/engine/structured.h"
#include "backends/cuda/cub/library.h"
#include "backends/cuda/device/sort_params.cuh"
#include "backends/cuda/runtime/context.h"
#include "backends/cuda/runtime/launch.h"

// CUB sorts the unsigned keys that order.cuh makes, so that NaN, the two zeros
// and what is equal lie as after our own sort, to the bit.

namespace sy::cuda::cub {

namespace {

constexpr unsigned kThreads = 256;

// The keys and their places, twice: CUB goes to and fro.
struct Buffers {
  Tensor keys[2], order[2];
  int64_t width;  // bytes of a key
  bool swapped = false;

  void* key(int i, int64_t at) const {
    return static_cast<char*>(keys[i].raw_data()) + at * width;
  }
  void* place(int i, int64_t at) const {
    return static_cast<uint32_t*>(order[i].raw_data()) + at;
  }
};

// f(room, &bytes, keys, order, stream), of elements from `at` on.
template <class F>
bool sort_part(int device, Buffers* b, int64_t at, const F& f) {
  return run(device, "CUB's radix sort",
             [&](void* room, size_t* bytes, void* stream) {
               void* keys[2] = {b->key(0, at), b->key(1, at)};
               void* order[2] = {b->place(0, at), b->place(1, at)};
               const int error = f(room, bytes, keys, order, stream);
               b->swapped = keys[0] != b->key(0, at);
               return error;
             },
             {&b->keys[0], &b->keys[1], &b->order[0], &b->order[1]});
}

}  // namespace

bool sort(const KeyKind& kind, const Tensor& rows, int64_t n, bool descending,
          int bits, const Tensor& values, const Tensor& places) {
  const int device = rows.device().index();
  const int64_t count = rows.numel() / n;
  // A block sorts a row of many. Few long rows take the whole device in turn.
  const bool at_once = count >= limits(device).multiprocessors;
  if (n < (at_once ? least().sort_rows : least().sort_row)) return false;
  const auto most = int64_t{std::numeric_limits<uint32_t>::max()};
  if (n > (at_once ? most / 2 : most)) return false;
  const SwitchyardCub* const f = functions(device);
  if (f == nullptr) return false;

  const int64_t total = rows.numel();
  Buffers b;
  b.width = kind.bits / 8;
  b.keys[0] = new_result(rows, total, rows.scalar_type());
  b.keys[1] = values;
  for (Tensor& t : b.order) t = new_result(rows, total, kInt);
  const LaunchShape shape = shape_for(total, kThreads, 4);
  MakeKeysParams make = {};
  make.rows = count;
  make.n = n;
  make.flip = descending ? ~uint64_t{0} : 0;
  make.in = rows.raw_data();
  make.keys = b.keys[0].raw_data();
  make.places = b.order[0].raw_data();
  launch(device, kernel(device, "sort_keys.cu", "make_keys", kind.all()), shape,
         make, {&rows, &b.keys[0], &b.order[0]});

  if (at_once) {
    const auto call = [&](void* room, size_t* bytes, void** keys, void** order,
                          void* stream) {
      return f->sort_rows(room, bytes, kind.bits, keys, order, count, n,
                          stream);
    };
    if (!sort_part(device, &b, 0, call)) return false;
  } else {
    const auto call = [&](void* room, size_t* bytes, void** keys, void** order,
                          void* stream) {
      return f->sort_pairs(room, bytes, kind.bits, bits, keys, order, n,
                           stream);
    };
    for (int64_t at = 0; at < total; at += n) {
      if (!sort_part(device, &b, at, call)) return false;
    }
  }

  const int now = b.swapped ? 1 : 0;
  WriteSortedParams write = {};
  write.rows = count;
  write.n = n;
  write.flip = make.flip;
  write.in = rows.raw_data();
  write.keys = b.keys[now].raw_data();
  write.order = b.order[now].raw_data();
  write.values = values.raw_data();
  write.places = places.raw_data();
  launch(device, kernel(device, "sort_keys.cu", "write_sorted", kind.all()),
         shape, write, {&rows, &b.keys[now], &b.order[now], &values, &places});
  return true;
}

}  // namespace sy::cuda::cub
