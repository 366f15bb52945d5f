#include "backends/cuda/sort.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>

#include "aten/engine/dims.h"
#include "aten/engine/structured.h"
#include "backends/cuda/backend_gen.h"
#include "backends/cuda/cub/sort.h"
#include "backends/cuda/device/sort_params.cuh"
#include "backends/cuda/runtime/launch.h"
#include "backends/cuda/support/key_kind.h"

// Rows lie one after the other; a dim that is not the last is moved there and
// back. Short rows are sorted in the memory of a block, several by one, long
// ones by CUB if it is there (cub/library.h), or else by digits. Elements stay
// as they are: the compared keys are made of their bits.

namespace sy::cuda {

namespace {

constexpr int kDigits = 256;
constexpr int64_t kMostBlocks = 1 << 16;
// Equals of longer rows come in the order of their places, where the CPU's
// selection shuffles them.
constexpr int kAsHost = 1024;
// A sort of the whole row is faster than one block from this length on.
constexpr int64_t kSelectedRow = int64_t{1} << 20;

unsigned blocks_for(int64_t n) {
  return static_cast<unsigned>(std::clamp<int64_t>(n, 1, kMostBlocks));
}

unsigned threads_for(int64_t n, int most) {
  const auto wide = static_cast<unsigned>(std::min<int64_t>(n, most));
  return std::clamp(std::bit_ceil(std::max(wide, 1u)), 32u,
                    static_cast<unsigned>(most));
}

uint64_t flip_of(bool descending) { return descending ? ~uint64_t{0} : 0; }

void sort_short(const KeyKind& kind, const Tensor& rows, int64_t n,
                bool descending, const Tensor& values, const Tensor& places) {
  const int device = rows.device().index();
  const auto width = static_cast<int>(std::bit_ceil(static_cast<uint64_t>(n)));
  SortRowsParams p = {};
  p.rows = rows.numel() / n;
  p.n = static_cast<int>(n);
  p.width = width;
  // Two items for each thread, and of long rows more.
  p.per_block = std::max(1, 2 * kSortThreads / width);
  p.flip = flip_of(descending);
  p.in = rows.raw_data();
  p.values = values.raw_data();
  p.places = places.raw_data();
  launch(device, kernel(device, "sort.cu", "sort_rows", kind.all()),
         {{blocks_for((p.rows + p.per_block - 1) / p.per_block)},
          {static_cast<unsigned>(kSortThreads)}},
         p, {&rows, &values, &places});
}

Tensor words_on(const Tensor& like, int64_t n) {
  return new_result(like, n, kLong);
}

// Sorts by `passes` digits from the lowest on.
void sort_long(const KeyKind& kind, const Tensor& rows, int64_t n,
               bool descending, int passes, const Tensor& values,
               const Tensor& places) {
  const int device = rows.device().index();
  const int64_t count = rows.numel() / n;
  const bool wide = n > int64_t{std::numeric_limits<uint32_t>::max()};
  const int tile = tile_items(kind.bits / 8, wide ? 8 : 4);
  Define defines[4];
  std::copy(kind.all().begin(), kind.all().end(), defines);
  defines[3] = {"SY_PLACE", wide ? "int64_t" : "uint32_t"};
  const ArrayRef<Define> all(defines, 4);
  const auto function = [&](const char* name) -> const Function& {
    return kernel(device, "sort_radix.cu", name, all);
  };
  constexpr auto kBlock = static_cast<unsigned>(kSelectThreads);

  // Counts, then the states of tiles, then a number for each pass.
  const int64_t tiles = (n + tile - 1) / tile;
  const int64_t counted = count * passes * kDigits;
  const int64_t states = count * tiles * kDigits;
  const Tensor room = words_on(rows, counted + states + passes);
  auto* const words = static_cast<uint64_t*>(room.raw_data());
  ClearParams clear = {};
  clear.n = room.numel();
  clear.words = words;
  launch(device, function("clear_words"),
         shape_for(clear.n, kBlock, 4, kMostBlocks), clear, {&room});

  CountParams c = {};
  c.rows = count;
  c.n = n;
  c.chunk = int64_t{kBlock} * 64;
  c.chunks = (n + c.chunk - 1) / c.chunk;
  c.passes = passes;
  c.flip = flip_of(descending);
  c.in = rows.raw_data();
  c.counts = words;
  launch(device, function("count_digits"),
         {{blocks_for(count * c.chunks)}, {kBlock}}, c, {&rows, &room});
  StartsParams s = {};
  s.groups = count * passes;
  s.counts = words;
  launch(device, function("start_digits"), {{blocks_for(s.groups)}, {kBlock}},
         s, {&room});

  // Passes go from the rows into one of two rooms and back; the last one writes
  // the results.
  Tensor keys[2], at[2];
  for (int i = 0; i < std::min(2, passes - 1); ++i) {
    keys[i] = new_result(rows, rows.numel(), rows.scalar_type());
    at[i] = new_result(rows, rows.numel(), wide ? kLong : kInt);
  }
  const auto data = [](const Tensor& t) {
    return t.defined() ? t.raw_data() : nullptr;
  };
  for (int k = 0; k < passes; ++k) {
    const bool last = k + 1 == passes;
    const Tensor& from = k == 0 ? rows : keys[(k - 1) % 2];
    const Tensor& to = last ? values : keys[k % 2];
    const Tensor& places_from = k == 0 ? at[0] : at[(k - 1) % 2];
    const Tensor& places_to = last ? places : at[k % 2];
    PassParams p = {};
    p.rows = count;
    p.n = n;
    p.tiles = tiles;
    p.pass = k;
    p.passes = passes;
    p.flip = c.flip;
    p.in = from.raw_data();
    p.out = to.raw_data();
    p.places_in = data(places_from);
    p.places_out = places_to.raw_data();
    p.places = places.raw_data();
    p.starts = words;
    p.states = words + counted;
    p.next_tile = reinterpret_cast<unsigned*>(words + counted + states + k);
    launch(device, function("sort_pass"),
           {{blocks_for(std::min<int64_t>(count * tiles, 4096))}, {kBlock}}, p,
           {&from, &to, &places_from, &places_to, &room});
  }
}

void sort_into(const KeyKind& kind, const Tensor& rows, int64_t n,
               bool descending, int passes, const Tensor& values,
               const Tensor& places) {
  if (rows.numel() == 0) return;
  if (cub::sort(kind, rows, n, descending, 8 * passes, values, places)) return;
  if (n <= block_items(kind.bits)) {
    sort_short(kind, rows, n, descending, values, places);
  } else {
    sort_long(kind, rows, n, descending, passes, values, places);
  }
}

// The elements along a dim as rows, and results of rows back in their place.
class Rows {
 public:
  Rows(const char* op, const Tensor& self, int64_t dim)
      : dim_(wrap_dim(op, dim, self.dim())),
        dims_(self.dim()),
        data_(rows_of(self, dim_)),
        length_(self.dim() == 0 ? 1 : self.size(dim_)) {}

  const Tensor& data() const { return data_; }
  int64_t length() const { return length_; }
  int64_t count() const { return length_ == 0 ? 0 : data_.numel() / length_; }
  // Makes rows of n, as the rows lie.
  Tensor make(int64_t n, ScalarType dtype) const {
    Dims sizes(data_.sizes());
    sizes[sizes.size() - 1] = n;
    return new_result(data_, sizes, dtype);
  }
  Tensor back(const Tensor& t) const {
    if (dims_ == 0) return t.reshape({});
    return dim_ == dims_ - 1 ? t : t.transpose(dim_, -1).contiguous();
  }
  // One element for each row.
  Tensor back(const Tensor& t, bool keepdim) const {
    const Tensor b = back(t);
    return dims_ == 0 || keepdim ? b : b.squeeze(dim_);
  }

 private:
  static Tensor rows_of(const Tensor& self, int64_t dim) {
    if (self.dim() == 0) return self.reshape({1}).contiguous();
    return dim == self.dim() - 1 ? self.contiguous()
                                 : self.transpose(dim, -1).contiguous();
  }

  int64_t dim_, dims_;
  Tensor data_;
  int64_t length_;
};

}  // namespace

KeyKind key_kind(ScalarType dtype) {
  const auto kind = [](int bits, const char* text, const char* kind,
                       const char* infinity) {
    return KeyKind{bits,
                   {{"SY_KEY_BITS", text},
                    {"SY_KEY_KIND", kind},
                    {"SY_KEY_INF", infinity}}};
  };
  switch (dtype) {
    case kBool:
    case kByte: return kind(8, "8", "0", "0");
    case kChar: return kind(8, "8", "1", "0");
    case kShort: return kind(16, "16", "1", "0");
    case kInt: return kind(32, "32", "1", "0");
    case kLong: return kind(64, "64", "1", "0");
    case kHalf: return kind(16, "16", "2", "0x7c00");
    case kBFloat16: return kind(16, "16", "2", "0x7f80");
    case kFloat: return kind(32, "32", "2", "0x7f800000");
    case kDouble: return kind(64, "64", "2", "0x7ff0000000000000");
    default: fail(ErrorKind::Type, "[sort] expected a dtype, got {}", dtype);
  }
}

void sort_rows(const Tensor& rows, int64_t n, bool descending, Tensor* values,
               Tensor* places) {
  const KeyKind kind = key_kind(rows.scalar_type());
  if (!values->defined()) {
    *values = new_result(rows, rows.sizes(), rows.scalar_type());
  }
  if (!places->defined()) *places = new_result(rows, rows.sizes(), kLong);
  sort_into(kind, rows, n, descending, kind.bits / 8, *values, *places);
}

SortedKeys sort_keys(const Tensor& keys, int64_t bound) {
  const KeyKind kind = key_kind(kLong);
  SortedKeys out{new_result(keys, keys.sizes(), kLong),
                 new_result(keys, keys.sizes(), kLong)};
  const int bits =
      std::bit_width(static_cast<uint64_t>(std::max<int64_t>(bound, 1) - 1));
  sort_into(kind, keys, keys.numel(), false, std::max(1, (bits + 7) / 8),
            out.keys, out.places);
  return out;
}

std::tuple<Tensor, Tensor> sort_stable(const Tensor& self, std::optional<bool>,
                                       int64_t dim, bool descending) {
  const Rows rows("sort", self, dim);
  Tensor values, places;
  sort_rows(rows.data(), rows.length(), descending, &values, &places);
  return {rows.back(values), rows.back(places)};
}

std::tuple<Tensor, Tensor> topk(const Tensor& self, int64_t k, int64_t dim,
                                bool largest, bool sorted) {
  const Rows rows("topk", self, dim);
  const int64_t n = rows.length();
  const KeyKind kind = key_kind(self.scalar_type());
  if (k > block_items(kind.bits) || n > kSelectedRow) {
    Tensor values, places;
    sort_rows(rows.data(), n, largest, &values, &places);
    return {rows.back(values.narrow(-1, 0, k).contiguous()),
            rows.back(places.narrow(-1, 0, k).contiguous())};
  }
  const Tensor values = rows.make(k, self.scalar_type());
  const Tensor places = rows.make(k, kLong);
  if (values.numel() > 0) {
    const int device = self.device().index();
    TopParams p = {};
    p.rows = rows.count();
    p.n = n;
    p.k = static_cast<int>(k);
    p.sorted = sorted ? 1 : 0;
    p.as_host = kAsHost;
    p.flip = flip_of(largest);
    p.in = rows.data().raw_data();
    p.values = values.raw_data();
    p.places = places.raw_data();
    launch(device, kernel(device, "sort_select.cu", "take_first", kind.all()),
           {{blocks_for(p.rows)}, {threads_for((n + 1) / 2, kSelectThreads)}},
           p, {&rows.data(), &values, &places});
  }
  return {rows.back(values), rows.back(places)};
}

std::tuple<Tensor, Tensor> mode(const Tensor& self, int64_t dim, bool keepdim) {
  const Rows rows("mode", self, dim);
  const int64_t n = rows.length();
  const Tensor values = rows.make(1, self.scalar_type());
  const Tensor places = rows.make(1, kLong);
  if (rows.count() > 0) {
    const KeyKind kind = key_kind(self.scalar_type());
    Tensor sorted, order;
    sort_rows(rows.data(), n, false, &sorted, &order);
    const int device = self.device().index();
    ModeParams p = {};
    p.rows = rows.count();
    p.n = n;
    p.sorted = sorted.raw_data();
    p.order = order.raw_data();
    p.values = values.raw_data();
    p.places = places.raw_data();
    launch(device, kernel(device, "sort_select.cu", "find_modes", kind.all()),
           {{blocks_for(p.rows)}, {threads_for(n, kSelectThreads)}}, p,
           {&sorted, &order, &values, &places});
  }
  return {rows.back(values, keepdim), rows.back(places, keepdim)};
}

}  // namespace sy::cuda
