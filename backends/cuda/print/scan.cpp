#include "backends/cuda/print/scan.h"

#include <algorithm>
#include <vector>

#include "backends/cuda/print/op_printer.h"
#include "backends/cuda/print/values.h"

namespace sy::cuda::print {

namespace {

class ScanPrinter : OpPrinter {
 public:
  ScanPrinter(const std::string& name, const ScanText& s)
      : OpPrinter(name), s_(s) {}

  std::string print(ScanShell shell) {
    need(s_.combine, s_.type);
    begin({.file = "scan.cuh",
           .params = str("ScanParams<{}>", std::max(s_.numbers(), 1)),
           .base = str("ScanElements<{}, {}>", element_name(s_.self),
                       element_name(s_.stored)),
           .reports_at_once = true});
    add("  using State = ScanState<{}, {}>;\n"
        "  __device__ State load(const Element& x, [[maybe_unused]] int64_t k) "
        "const {{\n",
        type_name(s_.type), s_.chooses ? "true" : "false");
    std::vector<std::string> state = {loaded("x", s_.type, false)};
    if (s_.chooses) state.push_back("k");
    give(state);
    combine();
    add("  __device__ Stored stored(const State& s) const {{\n"
        "    return {};\n  }}\n",
        stored("s.v", s_.type, false, s_.stored));
    constexpr std::string_view kShells[] = {"scan_rows", "scan_short_rows",
                                            "scan_columns"};
    end("kScanThreads", kShells[static_cast<int>(shell)]);
    return std::move(out_);
  }

 private:
  void combine() {
    add("  __device__ State combine(const State& a, const State& b) const "
        "{{\n");
    const std::vector<std::string> results =
        run(*s_.combine, s_.type, {"a.v", "b.v"}, "c");
    if (!s_.chooses) return give(results);
    report();
    add("    return {} != 0 ? b : a;\n  }}\n", results[0]);
  }

  const ScanText& s_;
};

}  // namespace

std::string print_scan(const std::string& name, const ScanText& s,
                       ScanShell shell) {
  return ScanPrinter(name, s).print(shell);
}

}  // namespace sy::cuda::print
