#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/print/op_printer.h"
#include "backends/cuda/print/reduce.h"

// The printer of what a reduction computes (device/reduce.cuh), whatever its
// elements are.

namespace sy::cuda::print {

class ReducePrinter : protected OpPrinter {
 protected:
  using OpPrinter::OpPrinter;

  void need_reduction(const ReduceText& r);

  // Prints Acc, map(), combine(). mapped() prints statements and returns the
  // operands of map()'s program, made of its parameter `element`. `given`: the
  // type of combine()'s numbers.
  template <class F>
  void combined(const ReduceText& r, ComputeType given,
                std::string_view element, const F& mapped) {
    accumulators(r);
    add("  __device__ Acc map({}) const {{\n", element);
    give_accumulators(r, run(*r.map, r.type, mapped(), "m"), r.type);
    combine(r, given);
  }
  // Prints finish(), which puts result i at place(i), made of its parameter
  // `to`.
  template <class F>
  void finish(const ReduceText& r, std::string_view to, const F& place) {
    add("  __device__ void finish(const Acc& a, {}) const {{\n", to);
    const std::vector<std::string> results = finished(r);
    for (int i = 0; i < r.results; ++i) {
      add("    {} = {};\n", place(i), results[static_cast<size_t>(i)]);
    }
    add("  }}\n");
  }
  // `first`: the number of the first accumulator of no elements.
  void nothing(const ReduceText& r, int first);

  // Prints all after the elements of an Op, which are those of `source`;
  // returns the text of the kernel.
  template <class F>
  std::string kernel(const ReduceText& r, ComputeType given,
                     std::string_view element, const F& mapped,
                     ReduceShell shell, std::string_view source) {
    combined(r, given, element, mapped);
    finish(r, "int64_t at", [&](int i) {
      return str("static_cast<{}*>(p.results[{}])[at]",
                 element_name(r.stored[i]), i);
    });
    nothing(r, number_);  // after all numbers of programs
    planes(r);
    end("kReduceThreads", shell_text(shell, source));
    return std::move(out_);
  }

 private:
  void accumulators(const ReduceText& r);
  void give_accumulators(const ReduceText& r, std::vector<std::string> values,
                         ComputeType from);
  void combine(const ReduceText& r, ComputeType given);
  // The results as elements: statements before them are printed.
  std::vector<std::string> finished(const ReduceText& r);
  void planes(const ReduceText& r);
  static std::string shell_text(ReduceShell shell, std::string_view source);
};

}  // namespace sy::cuda::print
