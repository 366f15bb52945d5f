#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/print/body.h"
#include "c10/process/error.h"

// The printer of an Op (device/op.cuh) and of the kernel around it: the common
// part of the printers of kernels with several operands.

namespace sy::cuda::print {

class OpPrinter {
 protected:
  using ComputeType = program::ComputeType;
  using Program = program::Program;

  // An operand in memory: its name in In or Out, its element, its number.
  // `fixed`: it is the same for all elements of a pack.
  struct Operand {
    std::string name;
    std::string_view element;
    size_t number;
    bool fixed = false;
  };
  using Operands = std::vector<Operand>;
  // What all elements share: a member of Op, made of the argument `q`.
  struct Shared {
    std::string_view type;
    std::string name, value;
  };

  // Borrows the name.
  explicit OpPrinter(const std::string& name) : name_(name) {}

  // Prints str(text, parts...).
  template <class... Ts>
  void add(FormatOf<Ts...> text, const Ts&... parts) {
    out_ += str(text, parts...);
  }

  // Notes a program of the kernel; call this before begin().
  void need(const Program* p, ComputeType type);

  // begin() prints up to the members of Op, end() all after them. `at` declares
  // the parameter for a place.
  void begin(std::string_view file, std::string_view params, std::string at,
             const std::vector<Shared>& shared = {});
  void end(std::string_view threads, std::string_view shell);

  // Prints In, and load() from the member `data` of the argument, which leaves
  // the inputs `later` out.
  void load(const Operands& inputs, std::string_view data = "data",
            const Operands& later = {});
  // Prints Out and store().
  void outputs(const Operands& outputs);
  // Prints Ins, load_packs(), element(); Outs, put(), store_packs().
  void packs(const Operands& inputs, const Operands& outputs, int width);

  bool divides() const { return divides_; }
  // Declares `at` as a place of n operands, in bytes.
  static std::string bytes_of(int n) {
    return str("const int64_t (&at)[{}]", n);
  }

  const std::string& name_;
  std::string at_;
  std::string out_;

 private:
  // Prints a struct of operands, or of packs of `width`.
  void members(std::string_view name, const Operands& list, int width);
  // Prints a function that returns what is read, or packs of `width`.
  void reads(std::string_view result, std::string_view function,
             const Operands& inputs, std::string_view data, int width);

  std::vector<std::string_view> files_ = {"element.cuh"};
  bool divides_ = false;
};

}  // namespace sy::cuda::print
