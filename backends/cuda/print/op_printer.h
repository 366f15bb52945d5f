#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
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
  // How an Op begins.
  struct Head {
    std::string_view file;  // of the shell
    std::string params;     // the type of the argument
    std::string at = {};    // declares the parameter for a place
    std::string base = {};  // of Op, if it has one
    std::vector<Shared> shared = {};
    // Functions report divisions by 0 when they return; else a thread does, at
    // its end. A reduction has no register for that long.
    bool reports_at_once = false;
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

  // begin() prints up to the members of Op, end() all after them.
  void begin(Head head);
  void end(std::string_view threads, std::string_view shell);

  // Prints In, and load() from the member `data` of the argument, which leaves
  // the inputs `later` out.
  void load(const Operands& inputs, std::string_view data = "data",
            const Operands& later = {});
  // Prints Out and store().
  void outputs(const Operands& outputs);
  // Prints Ins, load_packs(), element(); Outs, put(), store_packs().
  void packs(const Operands& inputs, const Operands& outputs, int width);

  // Prints the statements of a program; returns its results. Its numbers are
  // the next of the call, and have the type `given`.
  std::vector<std::string> run(const Program& p, ComputeType type,
                               std::vector<std::string> operands,
                               std::string_view prefix, ComputeType given);
  std::vector<std::string> run(const Program& p, ComputeType type,
                               std::vector<std::string> operands,
                               std::string_view prefix) {
    return run(p, type, std::move(operands), prefix, type);
  }
  // Prints the end of a function that runs programs; give(): which returns a
  // struct of these values.
  void report();
  void give(const std::vector<std::string>& values);

  // Declares `at` as a place of n operands, in bytes.
  static std::string bytes_of(int n) {
    return str("const int64_t (&at)[{}]", n);
  }

  const std::string& name_;
  Head head_;
  std::string out_;
  int number_ = 0;  // the next of the call

 private:
  // Prints a struct of operands, or of packs of `width`.
  void members(std::string_view name, const Operands& list, int width);
  // Prints a function that returns what is read, or packs of `width`.
  void reads(std::string_view result, std::string_view function,
             const Operands& inputs, std::string_view data, int width);

  std::vector<std::string_view> files_ = {"element.cuh"};
  bool divides_ = false;      // the Op
  bool has_divided_ = false;  // the function that is printed
};

}  // namespace sy::cuda::print
