#pragma once

#include "launch_head.cuh"

// Arguments of the kernels that sort and select, for the host and for kernels.
// Keys are elements by their bits (order.cuh); rows lie one after the other.
// `flip` is all ones where the greatest come first.

namespace sy::cuda {

// Arguments of sort.cu: rows that fit into a block.
struct SortRowsParams {
  LaunchHead head;
  long long rows;
  int n;          // elements of a row
  int width;      // the power of two from n on
  int per_block;  // rows of a block
  unsigned long long flip;
  const void* in;
  void* values;
  void* places;  // int64
};

// Arguments of sort_radix.cu, for long rows: its kernels clear memory, count
// the digits of all passes, turn counts into the places where the digits begin,
// and sort by one digit.
struct ClearParams {
  LaunchHead head;
  long long n;
  void* words;
};
struct CountParams {
  LaunchHead head;
  long long rows, n;
  long long chunks;  // chunks of a row
  long long chunk;   // elements of a chunk
  int passes;
  unsigned long long flip;
  const void* in;
  void* counts;  // 64 bits for each row, pass and digit
};
struct StartsParams {
  LaunchHead head;
  long long groups;  // rows times passes
  void* counts;
};
struct PassParams {
  LaunchHead head;
  long long rows, n;
  long long tiles;  // tiles of a row
  int pass, passes;
  unsigned long long flip;
  const void* in;
  void* out;
  const void* places_in;  // not of the first pass
  void* places_out;       // not of the last one
  void* places;           // int64, of the last one
  const void* starts;
  // 64 bits for each tile and digit: how many the tile has, then how many the
  // tiles up to it have. The highest byte says which, and in which pass.
  void* states;
  unsigned int* next_tile;
};

// Arguments of sort_keys.cu, whose kernels run before and after a sort of
// unsigned keys and 32-bit places: one makes the keys of elements with their
// places in the row, one the elements again. A key gives back its element, but
// for NaN and 0, which are read where they were.
struct MakeKeysParams {
  LaunchHead head;
  long long rows, n;
  unsigned long long flip;
  const void* in;
  void* keys;
  void* places;  // 32 bits
};
struct WriteSortedParams {
  LaunchHead head;
  long long rows, n;
  unsigned long long flip;
  const void* in;
  const void* keys;   // may be `values`
  const void* order;  // 32 bits
  void* values;
  void* places;  // int64
};

// Arguments of sort_select.cu.
struct TopParams {
  LaunchHead head;
  long long rows, n;
  int k;  // at least 1, at most n and kBlockItems
  int sorted;
  int as_host;  // the longest row of which equals are taken as by the host
  unsigned long long flip;
  const void* in;
  void* values;
  void* places;
};
struct ModeParams {
  LaunchHead head;
  long long rows, n;
  const void* sorted;
  const void* order;  // int64: where the sorted ones were
  void* values;
  void* places;
};

constexpr int kSortThreads = 512;    // for sort_rows
constexpr int kSelectThreads = 256;  // at most, of all others

// How many elements a block of sort_rows or take_first has room for, and one of
// sort_pass takes at a time.
constexpr int block_items(int key_bits) { return key_bits <= 32 ? 4096 : 2048; }
constexpr int tile_items(int key_bytes, int place_bytes) {
  return key_bytes + place_bytes <= 8 ? 4096 : 2048;
}

}  // namespace sy::cuda
