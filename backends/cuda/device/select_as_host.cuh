#pragma once

#include "order.cuh"

// Selection as the host's library does it, by one thread: of equal keys it
// takes the same ones, in the same order. The steps are those of libstdc++'s
// std::partial_sort, std::nth_element and std::sort: a heap, and a partition
// about the median of three that falls back to a heap.

namespace sy::cuda {

__device__ __forceinline__ bool less_key(Item a, Item b) {
  return key_of(a) < key_of(b);
}
__device__ __forceinline__ void swap_items(Item* a, Item* b) {
  const Item t = *a;
  *a = *b;
  *b = t;
}

// Puts v into the heap of n items below the hole; the greatest is on top.
__device__ inline void sift(Item* heap, int hole, int n, Item v) {
  const int top = hole;
  int child = hole;
  while (child < (n - 1) / 2) {
    child = 2 * (child + 1);
    if (less_key(heap[child], heap[child - 1])) --child;
    heap[hole] = heap[child];
    hole = child;
  }
  if (n % 2 == 0 && child == (n - 2) / 2) {
    child = 2 * child + 1;
    heap[hole] = heap[child];
    hole = child;
  }
  while (hole > top) {
    const int parent = (hole - 1) / 2;
    if (!less_key(heap[parent], v)) break;
    heap[hole] = heap[parent];
    hole = parent;
  }
  heap[hole] = v;
}

__device__ inline void make_heap(Item* heap, int n) {
  for (int i = (n - 2) / 2; n > 1 && i >= 0; --i) sift(heap, i, n, heap[i]);
}

__device__ inline void sort_heap(Item* heap, int n) {
  for (int last = n - 1; last > 0; --last) {
    const Item v = heap[last];
    heap[last] = heap[0];
    sift(heap, 0, last, v);
  }
}

// Leaves the `middle` least of n items on the heap before them.
__device__ inline void heap_select(Item* items, int middle, int n) {
  make_heap(items, middle);
  for (int i = middle; i < n; ++i) {
    if (!less_key(items[i], items[0])) continue;
    const Item v = items[i];
    items[i] = items[0];
    sift(items, 0, middle, v);
  }
}

__device__ inline void insert_from(Item* items, int at) {
  const Item v = items[at];
  for (; less_key(v, items[at - 1]); --at) items[at] = items[at - 1];
  items[at] = v;
}

__device__ inline void insertion_sort(Item* items, int n) {
  for (int i = 1; i < n; ++i) {
    if (!less_key(items[i], items[0])) {
      insert_from(items, i);
      continue;
    }
    const Item v = items[i];
    for (int k = i; k > 0; --k) items[k] = items[k - 1];
    items[0] = v;
  }
}

// Parts n items about the median of three; returns where the upper part
// begins.
__device__ inline int part(Item* items, int n) {
  Item *const a = items + 1, *const b = items + n / 2, *const c = items + n - 1;
  Item* median = nullptr;
  if (less_key(*a, *b)) {
    median = less_key(*b, *c) ? b : less_key(*a, *c) ? c : a;
  } else {
    median = less_key(*a, *c) ? a : less_key(*b, *c) ? c : b;
  }
  swap_items(items, median);
  int low = 1, high = n;
  for (;;) {
    while (less_key(items[low], items[0])) ++low;
    --high;
    while (less_key(items[0], items[high])) --high;
    if (low >= high) return low;
    swap_items(items + low, items + high);
    ++low;
  }
}

__device__ __forceinline__ int twice_log(int n) {
  int k = 0;
  for (; n > 1; n /= 2) k += 2;
  return k;
}

// The item of rank `nth` at its place, the lesser ones before it.
__device__ inline void select_nth(Item* items, int nth, int n) {
  if (nth >= n) return;
  int first = 0, last = n;
  for (int depth = twice_log(n); last - first > 3; --depth) {
    if (depth == 0) {
      heap_select(items + first, nth + 1 - first, last - first);
      swap_items(items + first, items + nth);
      return;
    }
    const int cut = first + part(items + first, last - first);
    (cut <= nth ? first : last) = cut;
  }
  insertion_sort(items + first, last - first);
}

__device__ inline void sort_items(Item* items, int n) {
  constexpr int kShort = 16;
  struct Piece {
    int first, last, depth;
  };
  Piece waiting[40];
  int count = 0;
  Piece at = {0, n, twice_log(n)};
  for (;;) {
    if (at.last - at.first <= kShort) {
      if (count == 0) break;
      at = waiting[--count];
      continue;
    }
    if (at.depth == 0) {
      heap_select(items + at.first, at.last - at.first, at.last - at.first);
      sort_heap(items + at.first, at.last - at.first);
      at.last = at.first;
      continue;
    }
    const int cut = at.first + part(items + at.first, at.last - at.first);
    const int depth = at.depth - 1;
    // The pieces do not touch each other: their order does not matter.
    waiting[count++] = {cut, at.last, depth};
    at = {at.first, cut, depth};
  }
  if (n <= kShort) return insertion_sort(items, n);
  insertion_sort(items, kShort);
  for (int i = kShort; i < n; ++i) insert_from(items, i);
}

}  // namespace sy::cuda
