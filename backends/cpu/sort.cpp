#include <algorithm>
#include <limits>

#include "aten/engine/copy.h"
#include "aten/engine/dims.h"
#include "backends/cpu/sort_kernels_gen.h"
#include "backends/cpu/support/dtype_switch.h"
#include "backends/cpu/support/rows.h"
#include "backends/cpu/support/scratch.h"
#include "backends/cpu/support/select_rank.h"
#include "backends/cpu/support/sort_key.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

constexpr int64_t kGrain = 4096;

void check_length(const char* op, int64_t length) {
  SY_CHECK(length <= int64_t{std::numeric_limits<uint32_t>::max()}, Value,
           "[{}] self: expected less than 2^32 elements along dim, got {}", op,
           length);
}

// f(row, n, room, i) for every row of self along dim; each thread has its room.
template <class T, class Room, class F>
void for_each_row(const char* op, const Tensor& self, int64_t dim, const F& f) {
  const Tensor rows = rows_of(self, dim);
  const RowCount n = count_rows(self, dim);
  check_length(op, n.length);
  const auto* data = static_cast<const T*>(rows.raw_data());
  parallel_for(0, n.rows,
               std::max<int64_t>(1, kGrain / std::max<int64_t>(1, n.length)),
               [&](int64_t begin, int64_t end) {
                 Room room;
                 for (int64_t i = begin; i < end; ++i) {
                   f(data + i * n.length, n.length, &room, i);
                 }
               });
}

// One value and its place for each row; choose(row, n, room) gives the place.
template <template <class> class Room, class F>
void choose(const char* op, const Tensor& self, int64_t dim,
            const Tensor& values, const Tensor& indices, const F& f) {
  dim = wrap_dim(op, dim, self.dim());
  if (values.numel() == 0) return;
  const RowsOut v(values, std::nullopt), k(indices, std::nullopt);
  auto* places = static_cast<int64_t*>(k.data());
  visit_all_dtypes(op, self.dtype(), [&]<class T>() {
    auto* to = static_cast<T*>(v.data());
    for_each_row<T, Room<T>>(
        op, self, dim, [&](const T* row, int64_t n, Room<T>* room, int64_t i) {
          places[i] = f(row, n, room);
          to[i] = row[places[i]];
        });
  });
  v.store();
  k.store();
}

template <class T>
int64_t place_of_median(const T* row, int64_t n, bool ignore_nan,
                        RankRoom<T>* room) {
  room->load(row, n);
  int64_t count = n;
  if constexpr (!std::is_integral_v<T>) {
    constexpr auto kNan = static_cast<SortKey<T>>(~SortKey<T>{0});
    const auto begin = room->keys.begin(), end = room->keys.end();
    const int64_t nans = std::count(begin, end, kNan);
    if (nans > 0 && !ignore_nan) return std::find(begin, end, kNan) - begin;
    count -= nans;
  }
  return room->place(std::max<int64_t>(0, (count - 1) / 2));
}

void median_of_all(const char* op, const Tensor& self, bool ignore_nan,
                   const Tensor& out) {
  const Tensor all = contiguous_cpu(self);
  const int64_t n = self.numel();
  check_length(op, n);
  visit_all_dtypes(op, self.dtype(), [&]<class T>() {
    const auto* data = static_cast<const T*>(all.raw_data());
    auto* to = static_cast<T*>(out.raw_data());
    if (n == 0) {
      // NaN, as it is cast.
      if constexpr (std::is_same_v<T, bool>) {
        *to = true;
      } else if constexpr (std::is_integral_v<T>) {
        *to = sizeof(T) < 4 ? T(0) : std::numeric_limits<T>::min();
      } else {
        *to = T(std::numeric_limits<float>::quiet_NaN());
      }
      return;
    }
    RankRoom<T> room;
    *to = data[place_of_median(data, n, ignore_nan, &room)];
  });
}

template <class T>
struct Pick {
  SortKey<T> key;
  int64_t index;
  friend bool operator<(const Pick& a, const Pick& b) { return a.key < b.key; }
};

template <class T>
void top(const T* row, int64_t n, int64_t k, bool largest, bool sorted,
         ScratchVector<Pick<T>>* picks) {
  picks->resize(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    const auto key = sort_key(row[i]);
    (*picks)[static_cast<size_t>(i)] = {
        static_cast<SortKey<T>>(largest ? ~key : key), i};
  }
  const auto begin = picks->begin();
  if (k * 64 <= n) {
    std::partial_sort(begin, begin + k, picks->end());
    return;
  }
  std::nth_element(begin, begin + k - 1, picks->end());
  if (sorted) std::sort(begin, begin + k - 1);
}

// The place where the value that occurs most was last.
template <class T>
int64_t place_of_mode(const T* row, int64_t n, SortRoom<T>* room) {
  room->sort(row, n, false);
  const auto& items = room->items;
  int64_t best = 0, most = 0, run = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    ++run;
    const bool ends = i + 1 == items.size() ||
                      key_of(items[i]) != key_of(items[i + 1]) ||
                      is_nan(row[index_of(items[i])]);
    if (!ends) continue;
    if (run > most) {
      most = run;
      best = index_of(items[i]);
    }
    run = 0;
  }
  return best;
}

}  // namespace

void sort_out(const Tensor& self, std::optional<bool>, int64_t dim,
              bool descending, const Tensor& values, const Tensor& indices) {
  dim = wrap_dim("sort", dim, self.dim());
  if (self.numel() == 0) return;
  const RowsOut v(values, dim), k(indices, dim);
  auto* places = static_cast<int64_t*>(k.data());
  visit_all_dtypes("sort", self.dtype(), [&]<class T>() {
    auto* to = static_cast<T*>(v.data());
    for_each_row<T, SortRoom<T>>(
        "sort", self, dim,
        [&](const T* row, int64_t n, SortRoom<T>* room, int64_t i) {
          room->sort(row, n, descending);
          for (int64_t j = 0; j < n; ++j) {
            const int64_t at = index_of(room->items[static_cast<size_t>(j)]);
            places[i * n + j] = at;
            to[i * n + j] = row[at];
          }
        });
  });
  v.store();
  k.store();
}

void topk_out(const Tensor& self, int64_t k, int64_t dim, bool largest,
              bool sorted, const Tensor& values, const Tensor& indices) {
  dim = wrap_dim("topk", dim, self.dim());
  if (values.numel() == 0) return;
  const RowsOut v(values, dim), at(indices, dim);
  auto* places = static_cast<int64_t*>(at.data());
  const Tensor rows = rows_of(self, dim);
  const RowCount n = count_rows(self, dim);
  visit_all_dtypes("topk", self.dtype(), [&]<class T>() {
    const auto* data = static_cast<const T*>(rows.raw_data());
    auto* to = static_cast<T*>(v.data());
    parallel_for(0, n.rows, std::max<int64_t>(1, kGrain / n.length),
                 [&](int64_t begin, int64_t end) {
                   ScratchVector<Pick<T>> picks;
                   for (int64_t i = begin; i < end; ++i) {
                     const T* row = data + i * n.length;
                     top(row, n.length, k, largest, sorted, &picks);
                     for (int64_t j = 0; j < k; ++j) {
                       const int64_t from = picks[static_cast<size_t>(j)].index;
                       places[i * k + j] = from;
                       to[i * k + j] = row[from];
                     }
                   }
                 });
  });
  v.store();
  at.store();
}

void kthvalue_out(const Tensor& self, int64_t k, int64_t dim, bool,
                  const Tensor& values, const Tensor& indices) {
  choose<RankRoom>("kthvalue", self, dim, values, indices,
                   [&]<class T>(const T* row, int64_t n, RankRoom<T>* room) {
                     room->load(row, n);
                     return room->place(k - 1);
                   });
}

void median_out(const Tensor& self, int64_t dim, bool, const Tensor& values,
                const Tensor& indices) {
  choose<RankRoom>("median", self, dim, values, indices,
                   []<class T>(const T* row, int64_t n, RankRoom<T>* room) {
                     return place_of_median(row, n, false, room);
                   });
}

void nanmedian_out(const Tensor& self, int64_t dim, bool, const Tensor& values,
                   const Tensor& indices) {
  choose<RankRoom>("nanmedian", self, dim, values, indices,
                   []<class T>(const T* row, int64_t n, RankRoom<T>* room) {
                     return place_of_median(row, n, true, room);
                   });
}

void median_all_out(const Tensor& self, const Tensor& out) {
  median_of_all("median", self, false, out);
}

void nanmedian_all_out(const Tensor& self, const Tensor& out) {
  median_of_all("nanmedian", self, true, out);
}

void mode_out(const Tensor& self, int64_t dim, bool, const Tensor& values,
              const Tensor& indices) {
  choose<SortRoom>("mode", self, dim, values, indices,
                   []<class T>(const T* row, int64_t n, SortRoom<T>* room) {
                     return place_of_mode(row, n, room);
                   });
}

}  // namespace sy::cpu
