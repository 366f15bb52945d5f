#include <sy/sy.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

// What loading and unloading a library takes: load LIB, as lines NAME
// MICROSECONDS.

namespace {

template <class F>
double microseconds(F&& f) {
  const auto begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now() - begin)
      .count();
}

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + v.size() / 2, v.end());
  return v[v.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  sy::init();
  std::vector<double> notes, loads, unloads;
  for (int i = 0; i < 200; ++i) {
    notes.push_back(microseconds([&] { sy::read_library_notes(argv[1]); }));
  }
  sy::LibraryHandle lib;
  const double first = microseconds([&] { lib = sy::load_library(argv[1]); });
  for (int i = 0; i < 2000; ++i) {
    unloads.push_back(microseconds([&] { lib.unload(); }));
    loads.push_back(microseconds([&] { lib = sy::load_library(argv[1]); }));
  }
  std::printf("notes %.1f\nfirst_load %.1f\nload_again %.1f\nunload %.1f\n",
              median(notes), first, median(loads), median(unloads));
}
