#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <vector>

#include "backends/cuda/cub/api.h"
#include "test/backends/cuda/fake/fake_cuda_control.h"

// A double of libswitchyard_cuda_cub.so: the same table, on the fake driver, in
// the order of the stream, by the host's own algorithms. FAKE_CUB_VERSION is
// the version that it says; FAKE_CUB_ERROR the error of every call.

namespace {

constexpr size_t kRoom = 512;
constexpr int kInvalidValue = 1;

int number_of(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

decltype(&fake_cuda_call) call_of_driver() {
  static const auto call = [] {
    const char* const path = std::getenv("SWITCHYARD_CUDA_DRIVER");
    void* const driver = path == nullptr ? nullptr : dlopen(path, RTLD_NOW);
    void* const found =
        driver == nullptr ? nullptr : dlsym(driver, "fake_cuda_call");
    if (found == nullptr) {
      std::fprintf(stderr, "libfake_cub: there is no fake driver\n");
      std::abort();
    }
    return reinterpret_cast<decltype(&fake_cuda_call)>(found);
  }();
  return call;
}

// Asks for room, or runs the work in the stream. The room is the work's: it is
// overwritten.
int in_stream(void* room, size_t* bytes, void* stream,
              std::function<void()> work) {
  if (const int error = number_of("FAKE_CUB_ERROR", 0)) return error;
  if (room == nullptr) {
    *bytes = kRoom;
    return 0;
  }
  if (*bytes < kRoom) return kInvalidValue;
  auto* const task = new std::function<void()>([room, work = std::move(work)] {
    std::memset(room, 0xa5, kRoom);
    work();
  });
  return call_of_driver()(
      stream,
      [](void* t) {
        auto* const f = static_cast<std::function<void()>*>(t);
        (*f)();
        delete f;
      },
      task);
}

// Sorts from [0] to [0], or to [1] after an odd number of passes; what is left
// elsewhere is junk.
template <class Key>
void sort_row(const Key* keys, const uint32_t* places, Key* keys_to,
              uint32_t* places_to, Key* other, uint32_t* other_places,
              int64_t n, int bits) {
  const auto mask = static_cast<Key>(~uint64_t{0} >> (64 - bits));
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return (keys[a] & mask) < (keys[b] & mask);
  });
  std::vector<Key> sorted;
  std::vector<uint32_t> at;
  for (const int64_t i : order) {
    sorted.push_back(keys[i]);
    at.push_back(places[i]);
  }
  const auto count = static_cast<size_t>(n);
  std::memset(other, 0xa5, count * sizeof(Key));
  std::memset(other_places, 0xa5, count * sizeof(uint32_t));
  std::memcpy(keys_to, sorted.data(), count * sizeof(Key));
  std::memcpy(places_to, at.data(), count * sizeof(uint32_t));
}

template <class Key>
int sort_keys(void* room, size_t* bytes, int bits, void** keys, void** places,
              int64_t rows, int64_t n, void* stream) {
  const int to = (bits + 7) / 8 % 2;
  auto* const from = static_cast<Key*>(keys[0]);
  auto* const from_places = static_cast<uint32_t*>(places[0]);
  auto* const result = static_cast<Key*>(keys[to]);
  auto* const result_places = static_cast<uint32_t*>(places[to]);
  auto* const other = static_cast<Key*>(keys[1 - to]);
  auto* const other_places = static_cast<uint32_t*>(places[1 - to]);
  const int r = in_stream(room, bytes, stream, [=] {
    for (int64_t at = 0; at < rows * n; at += n) {
      sort_row(from + at, from_places + at, result + at, result_places + at,
               other + at, other_places + at, n, bits);
    }
  });
  if (r == 0 && room != nullptr && to == 1) {
    std::swap(keys[0], keys[1]);
    std::swap(places[0], places[1]);
  }
  return r;
}

int sort(void* room, size_t* bytes, int key_bits, int bits, void** keys,
         void** places, int64_t rows, int64_t n, void* stream) {
  const auto by = [&](auto key) {
    return sort_keys<decltype(key)>(room, bytes, bits, keys, places, rows, n,
                                    stream);
  };
  switch (key_bits) {
    case 8: return by(uint8_t{});
    case 16: return by(uint16_t{});
    case 32: return by(uint32_t{});
    case 64: return by(uint64_t{});
    default: return kInvalidValue;
  }
}

int sort_pairs(void* room, size_t* bytes, int key_bits, int bits, void** keys,
               void** places, int64_t n, void* stream) {
  return sort(room, bytes, key_bits, bits, keys, places, 1, n, stream);
}

int sort_rows(void* room, size_t* bytes, int key_bits, void** keys,
              void** places, int64_t rows, int64_t n, void* stream) {
  return sort(room, bytes, key_bits, key_bits, keys, places, rows, n, stream);
}

int select_places(void* room, size_t* bytes, const uint8_t* flags,
                  int64_t* places, int64_t* count, int64_t n, void* stream) {
  return in_stream(room, bytes, stream, [=] {
    *count = 0;
    for (int64_t i = 0; i < n; ++i) {
      if (flags[i] != 0) places[(*count)++] = i;
    }
  });
}

int sum_before(void* room, size_t* bytes, uint64_t* numbers, int64_t n,
               void* stream) {
  return in_stream(room, bytes, stream, [=] {
    std::exclusive_scan(numbers, numbers + n, numbers, uint64_t{0});
  });
}

template <class Number>
int count(void* room, size_t* bytes, const void* numbers, int64_t n,
          uint64_t* counts, int64_t bins, void* stream) {
  return in_stream(room, bytes, stream, [=] {
    std::fill(counts, counts + bins, 0);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t k = static_cast<const Number*>(numbers)[i];
      if (k >= 0 && k < bins) ++counts[k];
    }
  });
}

int count_numbers(void* room, size_t* bytes, int number_bits,
                  const void* numbers, int64_t n, uint64_t* counts,
                  int64_t bins, void* stream) {
  return number_bits == 32
             ? count<int32_t>(room, bytes, numbers, n, counts, bins, stream)
             : count<int64_t>(room, bytes, numbers, n, counts, bins, stream);
}

const char* error_text(int) { return "an error of the double"; }

}  // namespace

extern "C" __attribute__((visibility("default"))) const SwitchyardCub*
switchyard_cuda_cub() {
  static SwitchyardCub table = {
      0,          11000,          300001,      &error_text,   &sort_pairs,
      &sort_rows, &select_places, &sum_before, &count_numbers};
  table.version = number_of("FAKE_CUB_VERSION", SWITCHYARD_CUDA_CUB_VERSION);
  return &table;
}
