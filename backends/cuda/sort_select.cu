// The first few of each row, and the value that occurs most: a block a row.

#include "select_as_host.cuh"

constexpr int kThreads = kSelectThreads;
constexpr int kWarps = kThreads / 32;
constexpr int kDigits = 256;

// Whether any thread says yes: each thread of the block gets the same answer.
__device__ inline bool any_of_block(bool mine, int* room) {
  __syncthreads();
  if (threadIdx.x == 0) *room = 0;
  __syncthreads();
  if (mine) *room = 1;
  __syncthreads();
  return *room != 0;
}

struct Threshold {
  Key key;        // the key of the last one taken
  int64_t equal;  // how many elements have that key
  int taken;      // how many of these are taken
};

// The key of rank k - 1, digit by digit from the highest.
__device__ inline Threshold find_threshold(const Key* row, int64_t n, int k,
                                           Key flip) {
  __shared__ unsigned int counts[kDigits];
  __shared__ int chosen, before;
  const int thread = static_cast<int>(threadIdx.x);
  Key prefix = 0, mask = 0;
  int left = k;
  int64_t equal = 0;
  for (int shift = SY_KEY_BITS - 8; shift >= 0; shift -= 8) {
    for (int d = thread; d < kDigits; d += static_cast<int>(blockDim.x)) {
      counts[d] = 0;
    }
    __syncthreads();
    for (int64_t i = thread; i < n; i += blockDim.x) {
      const Key key = static_cast<Key>(sort_key(row[i]) ^ flip);
      if ((key & mask) == prefix) {
        atomicAdd(&counts[key >> shift & (kDigits - 1)], 1u);
      }
    }
    __syncthreads();
    if (thread == 0) {
      int sum = 0, d = 0;
      while (static_cast<int64_t>(sum) + counts[d] < left) {
        sum += static_cast<int>(counts[d++]);
      }
      chosen = d;
      before = sum;
    }
    __syncthreads();
    prefix = static_cast<Key>(prefix | static_cast<Key>(chosen) << shift);
    mask = static_cast<Key>(mask | Key{kDigits - 1} << shift);
    left -= before;
    equal = counts[chosen];
    __syncthreads();
  }
  return {prefix, equal, left};
}

// The k first by key and place, in no order.
__device__ inline void collect(const Key* row, int64_t n, int k, Key flip,
                               const Threshold& t, Item* items) {
  __shared__ int lesser, equals;
  __shared__ int found[kWarps];
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32, warp = thread / 32;
  if (thread == 0) {
    lesser = 0;
    equals = k - t.taken;
  }
  __syncthreads();
  for (int64_t first = 0; first < n; first += blockDim.x) {
    const int64_t i = first + thread;
    const Key key =
        i < n ? static_cast<Key>(sort_key(row[i]) ^ flip) : kLastKey;
    if (i < n && key < t.key) {
      items[atomicAdd(&lesser, 1)] = make_item(key, static_cast<uint32_t>(i));
    }
    const bool same = i < n && key == t.key;
    const unsigned int vote = __ballot_sync(0xffffffffu, same);
    if (lane == 0) found[warp] = __popc(vote);
    __syncthreads();
    int at = equals + __popc(vote & ((1u << lane) - 1u));
    for (int w = 0; w < warp; ++w) at += found[w];
    if (same && at < k) items[at] = make_item(key, static_cast<uint32_t>(i));
    __syncthreads();
    if (thread == static_cast<int>(blockDim.x) - 1) {
      equals = at + (same ? 1 : 0);
    }
    __syncthreads();
  }
}

// Does as std::partial_sort: the heap takes the elements in their order; the
// block looks for the next elements that are less than its top.
__device__ inline void take_by_heap(const Key* row, int64_t n, int k, Key flip,
                                    Item* items) {
  __shared__ unsigned int votes[kWarps];
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32, warp = thread / 32;
  __syncthreads();
  for (int i = thread; i < k; i += static_cast<int>(blockDim.x)) {
    items[i] = make_item(static_cast<Key>(sort_key(row[i]) ^ flip),
                         static_cast<uint32_t>(i));
  }
  __syncthreads();
  if (thread == 0) make_heap(items, k);
  for (int64_t first = k; first < n; first += blockDim.x) {
    __syncthreads();
    const int64_t i = first + thread;
    const bool less =
        i < n && static_cast<Key>(sort_key(row[i]) ^ flip) < key_of(items[0]);
    const unsigned int vote = __ballot_sync(0xffffffffu, less);
    if (lane == 0) votes[warp] = vote;
    __syncthreads();
    if (thread != 0) continue;
    for (int w = 0; w < static_cast<int>(blockDim.x) / 32; ++w) {
      for (unsigned int left = votes[w]; left != 0; left &= left - 1) {
        const int64_t at = first + 32 * w + __ffs(static_cast<int>(left)) - 1;
        const Item v = make_item(static_cast<Key>(sort_key(row[at]) ^ flip),
                                 static_cast<uint32_t>(at));
        if (less_key(v, items[0])) sift(items, 0, k, v);
      }
    }
  }
  if (thread == 0) sort_heap(items, k);
  __syncthreads();
}

__device__ inline void load_items(const Key* row, int n, int width, Key flip,
                                  Item* items) {
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < width;
       i += static_cast<int>(blockDim.x)) {
    items[i] = i < n ? make_item(static_cast<Key>(sort_key(row[i]) ^ flip),
                                 static_cast<uint32_t>(i))
                     : last_item();
  }
  __syncthreads();
}

__device__ __forceinline__ int width_of(int n) {
  int width = 1;
  while (width < n) width *= 2;
  return width;
}

SY_KERNEL(take_first, TopParams, kThreads) {
  __shared__ Item items[kBlockItems];
  __shared__ int room;
  const int thread = static_cast<int>(threadIdx.x);
  const Key flip = static_cast<Key>(p.flip);
  const int k = p.k;
  const bool few = static_cast<int64_t>(k) * 64 <= p.n;
  const bool in_order = few || p.sorted != 0;
  const bool whole = p.n <= kBlockItems;
  const int n = static_cast<int>(p.n);
  for (int64_t r = blockIdx.x; r < p.rows; r += gridDim.x) {
    const Key* const row = static_cast<const Key*>(p.in) + r * p.n;
    // These ways do not depend on which of equal elements are taken.
    bool equals = false;
    if (!in_order && p.n <= p.as_host) {
      equals = true;
    } else if (whole) {
      load_items(row, n, width_of(n), flip, items);
      sort_shared(items, width_of(n), width_of(n));
      for (int i = thread; i < k && i + 1 < n;
           i += static_cast<int>(blockDim.x)) {
        equals |= key_of(items[i]) == key_of(items[i + 1]);
      }
    } else {
      const Threshold t = find_threshold(row, p.n, k, flip);
      collect(row, p.n, k, flip, t, items);
      const int width = width_of(k);
      for (int i = k + thread; i < width; i += static_cast<int>(blockDim.x)) {
        items[i] = last_item();
      }
      sort_shared(items, width, width);
      equals = t.equal > t.taken;
      for (int i = thread; i + 1 < k; i += static_cast<int>(blockDim.x)) {
        equals |= key_of(items[i]) == key_of(items[i + 1]);
      }
    }
    if (any_of_block(equals, &room)) {
      if (few) {
        take_by_heap(row, p.n, k, flip, items);
      } else if (p.n <= p.as_host) {
        load_items(row, n, n, flip, items);
        if (thread == 0) {
          select_nth(items, k - 1, n);
          if (p.sorted != 0) sort_items(items, k - 1);
        }
        __syncthreads();
      }
    }
    for (int i = thread; i < k; i += static_cast<int>(blockDim.x)) {
      const int64_t from = place_of(items[i]);
      static_cast<Key*>(p.values)[r * k + i] = row[from];
      static_cast<int64_t*>(p.places)[r * k + i] = from;
    }
    __syncthreads();
  }
}

// The last element of each run of equals tells the run, in a sorted row.
SY_KERNEL(find_modes, ModeParams, kThreads) {
  __shared__ int64_t lengths[kThreads], ends[kThreads];
  const int thread = static_cast<int>(threadIdx.x);
  for (int64_t r = blockIdx.x; r < p.rows; r += gridDim.x) {
    const Key* const row = static_cast<const Key*>(p.sorted) + r * p.n;
    int64_t most = 0, end = 0;
    for (int64_t i = thread; i < p.n; i += blockDim.x) {
      const Key key = sort_key(row[i]);
      const bool nan = is_nan_key(key);
      if (!nan && i + 1 < p.n && sort_key(row[i + 1]) == key) continue;
      int64_t first = 0;
      for (int64_t left = nan ? 0 : i; left > 0;) {
        const int64_t half = left / 2;
        if (sort_key(row[first + half]) < key) {
          first += half + 1;
          left -= half + 1;
        } else {
          left = half;
        }
      }
      const int64_t length = nan ? 1 : i - first + 1;
      if (length > most) {
        most = length;
        end = i;
      }
    }
    lengths[thread] = most;
    ends[thread] = end;
    for (int step = static_cast<int>(blockDim.x) / 2; step > 0; step /= 2) {
      __syncthreads();
      if (thread >= step) continue;
      const int other = thread + step;
      if (lengths[other] > lengths[thread] ||
          (lengths[other] == lengths[thread] && ends[other] < ends[thread])) {
        lengths[thread] = lengths[other];
        ends[thread] = ends[other];
      }
    }
    __syncthreads();
    if (thread == 0) {
      const int64_t at = ends[0];
      static_cast<Key*>(p.values)[r] = row[at];
      static_cast<int64_t*>(p.places)[r] =
          static_cast<const int64_t*>(p.order)[r * p.n + at];
    }
    __syncthreads();
  }
}
