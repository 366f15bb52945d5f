#include <sy/library.h>
#include <sy/sy.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

// The times of loading and unloading a library, and of a call of its operator
// beside one of the program's own: load LIB prints lines NAME VALUE, in
// microseconds; of calls nanoseconds.

namespace {

sy::Tensor noop(const sy::Tensor& self) { return self; }

SY_LIBRARY(program, m) { m.def("noop(Tensor self) -> Tensor"); }
SY_LIBRARY_IMPL(program, CPU, m) { m.impl("noop", SY_FN(noop)); }

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

double nanoseconds(const char* name) {
  constexpr int kCalls = 200000;
  const auto op = sy::typed_operator<sy::Tensor(const sy::Tensor&)>(name);
  const sy::Tensor a = sy::ones({1});
  return 1000 / double{kCalls} * microseconds([&] {
           for (int i = 0; i < kCalls; ++i) op.call(a);
         });
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
  std::vector<double> own, hop;
  for (int i = 0; i < 31; ++i) {
    own.push_back(nanoseconds("program::noop"));
    hop.push_back(nanoseconds("small::noop"));
  }
  std::printf("own_call %.1f\nplugin_call %.1f\n", median(own), median(hop));
}
