#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "test/backends/cuda/fake/numbers.h"

// A double of libcublasLt.so.13, by the C interface of NVIDIA's header: on the
// fake driver, in the order of the stream, with sums in float64 by the host. It
// holds callers to the library's rules: what a layout, an alignment, a
// workspace or an epilogue must be. FAKE_BLAS_VERSION is the version that it
// says, FAKE_BLAS_ERROR what cublasLtCreate answers; FAKE_BLAS_REFUSES=bias
// finds no way to add one.

namespace {

constexpr int kDone = 0, kInvalid = 7, kFailed = 13, kNotSupported = 15;
constexpr int kFloat32 = 0, kFloat64 = 1, kFloat16 = 2, kBrain16 = 14;
constexpr int kCompute32 = 68, kCompute32ByTf32 = 77, kCompute64 = 70;
constexpr size_t kRoom = 1024;

// Room for as much as the descriptors of the header hold.
struct Description {
  int compute, scale;
  int32_t transpose[2];
  uint32_t epilogue;
  const void* bias;
  uint64_t rest[32 - 4];
};
struct Layout {
  int type;
  int32_t batch;
  uint64_t rows, columns;
  int64_t line, stride;
  uint64_t rest[8 - 5];
};
struct Preference {
  uint64_t room;
  uint32_t reductions;
  uint32_t alignment[4];
  uint64_t rest[4];
};
struct Algorithm {
  uint32_t alignment[4];
  uint32_t checked;
  uint32_t bias_alignment;
  uint64_t rest[8 - 3];
};
struct Heuristic {
  Algorithm algorithm;
  size_t room;
  int state;
  float waves;
  int reserved[4];
};
static_assert(sizeof(Description) == 256 && sizeof(Layout) == 64);
static_assert(sizeof(Preference) == 64 && sizeof(Algorithm) == 64);

using fake::setting;

// Writes a caller's mistake to stderr, for who reads a failure.
int refuse(const char* why) {
  std::fprintf(stderr, "libfake_blas: %s\n", why);
  return kInvalid;
}

fake::Number kind_of(int type) {
  switch (type) {
    case kFloat32: return fake::Number::kFloat32;
    case kFloat64: return fake::Number::kFloat64;
    case kFloat16: return fake::Number::kFloat16;
    default: return fake::Number::kBrain16;
  }
}
double read(const void* data, int64_t i, int type) {
  return fake::read(data, i, kind_of(type));
}

struct Multiplication {
  Description how;
  Layout la, lb, lc, ld;
  double alpha, beta;
  const void *a, *b, *c;
  void* d;
  void* room;

  void run() const {
    if (room != nullptr) std::memset(room, 0xa5, kRoom);
    for (int64_t i = 0; i < ld.batch; ++i) each(i);
  }

 private:
  static double at(const void* data, const Layout& l, int64_t batch,
                   bool transposed, uint64_t row, uint64_t column) {
    if (transposed) std::swap(row, column);
    return read(data,
                batch * l.stride + static_cast<int64_t>(column) * l.line +
                    static_cast<int64_t>(row),
                l.type);
  }
  void each(int64_t batch) const {
    const uint64_t k = how.transpose[0] != 0 ? la.rows : la.columns;
    for (uint64_t j = 0; j < ld.columns; ++j) {
      for (uint64_t i = 0; i < ld.rows; ++i) {
        double sum = 0;
        for (uint64_t x = 0; x < k; ++x) {
          sum += at(a, la, batch, how.transpose[0] != 0, i, x) *
                 at(b, lb, batch, how.transpose[1] != 0, x, j);
        }
        sum *= alpha;
        if (beta != 0) sum += beta * at(c, lc, batch, false, i, j);
        if (how.epilogue == 4) {
          sum += read(how.bias, static_cast<int64_t>(i), ld.type);
        }
        fake::write(d,
                    batch * ld.stride + static_cast<int64_t>(j) * ld.line +
                        static_cast<int64_t>(i),
                    kind_of(ld.type), sum);
      }
    }
  }
};

bool is_aligned(const void* p, uint32_t bytes) {
  return bytes != 0 && reinterpret_cast<uintptr_t>(p) % bytes == 0;
}

// The rules of all descriptors together; nullptr if they are kept.
const char* broken_rule(const Description& how, const Layout& a,
                        const Layout& b, const Layout& c, const Layout& d) {
  const auto size = [](const Layout& l, bool transposed, bool of_rows) {
    return transposed == of_rows ? l.columns : l.rows;
  };
  const bool ta = how.transpose[0] != 0, tb = how.transpose[1] != 0;
  if (size(a, ta, true) != d.rows || size(b, tb, false) != d.columns ||
      size(a, ta, false) != size(b, tb, true) || c.rows != d.rows ||
      c.columns != d.columns) {
    return "sizes of the matrices do not fit";
  }
  for (const Layout* const l : {&a, &b, &c, &d}) {
    if (l->line < static_cast<int64_t>(l->rows)) return "lines overlap";
    if (l->type != d.type) return "dtypes differ";
    if (l->batch != d.batch) return "numbers of matrices differ";
    if (l->rows == 0 || l->columns == 0) return "a matrix has no elements";
  }
  if (d.batch > 1 && d.stride < static_cast<int64_t>(d.columns) * d.line) {
    return "results overlap";
  }
  const bool wide = d.type == kFloat64;
  if (wide != (how.compute == kCompute64) || wide != (how.scale == kFloat64)) {
    return "float64 is computed in float64 alone";
  }
  if (how.compute == kCompute32ByTf32 && d.type != kFloat32) {
    return "TF32 is for float32";
  }
  if (how.epilogue != 1 && how.epilogue != 4) return "no such epilogue";
  return nullptr;
}

}  // namespace

#define FAKE_BLAS_API extern "C" __attribute__((visibility("default")))

FAKE_BLAS_API size_t cublasLtGetVersion() {
  return static_cast<size_t>(setting("FAKE_BLAS_VERSION", 130100));
}

FAKE_BLAS_API const char* cublasLtGetStatusString(int status) {
  return status == kNotSupported ? "not supported, says the double"
                                 : "an error of the double";
}

FAKE_BLAS_API int cublasLtCreate(void** handle) {
  static int context;
  *handle = &context;
  return setting("FAKE_BLAS_ERROR", kDone);
}

FAKE_BLAS_API int cublasLtMatmulDescInit_internal(Description* d, size_t size,
                                                  int compute, int scale) {
  if (size != sizeof *d) return refuse("descriptions have another size");
  *d = {compute, scale, {0, 0}, 1, nullptr, {}};
  return kDone;
}

FAKE_BLAS_API int cublasLtMatmulDescSetAttribute(Description* d, int what,
                                                 const void* value,
                                                 size_t size) {
  const auto put = [&](auto* to) {
    if (size != sizeof *to) return refuse("an attribute has another size");
    std::memcpy(to, value, size);
    return kDone;
  };
  switch (what) {
    case 3: return put(&d->transpose[0]);
    case 4: return put(&d->transpose[1]);
    case 7: return put(&d->epilogue);
    case 8: return put(&d->bias);
    default: return refuse("no such attribute of a description");
  }
}

FAKE_BLAS_API int cublasLtMatrixLayoutInit_internal(Layout* l, size_t size,
                                                    int type, uint64_t rows,
                                                    uint64_t columns,
                                                    int64_t line) {
  if (size != sizeof *l) return refuse("layouts have another size");
  *l = {type, 1, rows, columns, line, 0, {}};
  return kDone;
}

FAKE_BLAS_API int cublasLtMatrixLayoutSetAttribute(Layout* l, int what,
                                                   const void* value,
                                                   size_t size) {
  if (what == 5 && size == 4) std::memcpy(&l->batch, value, size);
  if (what == 6 && size == 8) std::memcpy(&l->stride, value, size);
  return what == 5 || what == 6 ? kDone : refuse("no such attribute");
}

FAKE_BLAS_API int cublasLtMatmulPreferenceInit_internal(Preference* p,
                                                        size_t size) {
  if (size != sizeof *p) return refuse("preferences have another size");
  *p = {0, 7, {256, 256, 256, 256}, {}};
  return kDone;
}

FAKE_BLAS_API int cublasLtMatmulPreferenceSetAttribute(Preference* p, int what,
                                                       const void* value,
                                                       size_t size) {
  if (what == 1 && size == 8) {
    std::memcpy(&p->room, value, size);
  } else if (what == 3 && size == 4) {
    std::memcpy(&p->reductions, value, size);
  } else if (what >= 5 && what <= 8 && size == 4) {
    std::memcpy(&p->alignment[what - 5], value, size);
  } else {
    return refuse("no such preference");
  }
  return kDone;
}

FAKE_BLAS_API int cublasLtMatmulAlgoGetHeuristic(
    void*, const Description* how, const Layout* a, const Layout* b,
    const Layout* c, const Layout* d, const Preference* p, int most,
    Heuristic* out, int* found) {
  *found = 0;
  if (const char* const why = broken_rule(*how, *a, *b, *c, *d)) {
    return refuse(why);
  }
  if (most < 1 || (p->reductions & ~2U) != 0) {
    return refuse("sums of short floats may be rounded in parts");
  }
  const char* const refused = std::getenv("FAKE_BLAS_REFUSES");
  if (how->epilogue == 4 &&
      (d->type == kFloat64 ||
       (refused != nullptr && std::strcmp(refused, "bias") == 0))) {
    return kNotSupported;
  }
  *out = {};
  std::memcpy(out->algorithm.alignment, p->alignment, sizeof p->alignment);
  out->algorithm.checked = 0x600d;
  out->room = d->rows * d->columns > 4096 && p->room >= kRoom ? kRoom : 0;
  *found = 1;
  return kDone;
}

FAKE_BLAS_API int cublasLtMatmul(void*, const Description* how,
                                 const void* alpha, const void* a,
                                 const Layout* la, const void* b,
                                 const Layout* lb, const void* beta,
                                 const void* c, const Layout* lc, void* d,
                                 const Layout* ld, const Algorithm* chosen,
                                 void* room, size_t bytes, void* stream) {
  if (const char* const why = broken_rule(*how, *la, *lb, *lc, *ld)) {
    return refuse(why);
  }
  if (chosen == nullptr || chosen->checked != 0x600d) {
    return refuse("the algorithm is none that was chosen");
  }
  const void* const operands[] = {a, b, c, d};
  for (int i = 0; i < 4; ++i) {
    if (!is_aligned(operands[i], chosen->alignment[i])) {
      return refuse("an operand is aligned less than was said");
    }
  }
  if (ld->rows * ld->columns > 4096 && bytes < kRoom) {
    return refuse("the workspace is too small");
  }
  if (bytes != 0 && (room == nullptr || !is_aligned(room, 256))) {
    return refuse("the workspace is not aligned to 256 bytes");
  }
  if (how->epilogue == 4 && how->bias == nullptr) return refuse("no bias");
  if (how->scale != kFloat32 && how->scale != kFloat64) return kNotSupported;
  const auto number = [&](const void* p) { return read(p, 0, how->scale); };
  const Multiplication task = {
      *how,         *la, *lb, *lc, *ld, number(alpha),
      number(beta), a,   b,   c,   d,   bytes == 0 ? nullptr : room};
  return fake::put_work(stream, [task] { task.run(); }) == 0 ? kDone : kFailed;
}
