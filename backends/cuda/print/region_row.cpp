#include "backends/cuda/print/region_row.h"

#include "backends/cuda/print/body.h"
#include "backends/cuda/print/region_printer.h"
#include "c10/process/error.h"

namespace sy::cuda::print {

namespace {

class RowPrinter : RegionPrinter {
 public:
  RowPrinter(const std::string& name, const RegionRowText& row)
      : RegionPrinter(name, row.elements),
        row_(row),
        n_(static_cast<size_t>(row.operands())) {}

  std::string print() {
    for (const RegionText& t : row_.phases) {
      need_nodes(t);
      need_reduction(region_reduction(t));
    }
    need_nodes(t_);
    need_nodes(row_.rows);
    const size_t numbers = region_row_numbers(row_).size();
    begin("region_row.cuh", "RegionRowParams", row_.operands(),
          numbers + static_cast<size_t>(region_row_accumulators(row_)), true);
    load(inputs());
    keep();
    stats();
    int nothing = static_cast<int>(numbers);
    for (size_t i = 0; i < row_.phases.size(); ++i) {
      nothing = phase(i, nothing);
    }
    add("  __device__ void reduce(RegionRow<Op, {}>& row, Stats& stats) const "
        "{{\n",
        n_);
    for (size_t i = 0; i < row_.phases.size(); ++i) {
      add("    row_phase<Phase{}>(row, stats);\n", i);
    }
    add("  }}\n  static constexpr bool kWalks = {};\n",
        t_.outputs.empty() ? "false" : "true");
    outputs(outputs_of(t_, t_.inputs.size()));
    if (!t_.outputs.empty()) {
      add("  __device__ Out compute([[maybe_unused]] const In& in,\n           "
          "              [[maybe_unused]] const Stats& stats) const {{\n");
      nodes(t_);
      give_outputs(t_);
    }
    finish_row();
    end("kReduceThreads", str("region_row<{}_parts::Op, {}>", name_, n_));
    return std::move(out_);
  }

 private:
  // Prints keep() and again(). The elements of kept inputs lie one array after
  // the other.
  void keep() {
    add("  template <class E>\n  __device__ static E* part(char* room, int64_t "
        "bytes) {{\n    return reinterpret_cast<E*>(room + bytes);\n  }}\n  "
        "__device__ void keep([[maybe_unused]] char* room, [[maybe_unused]] "
        "int64_t k,\n                       [[maybe_unused]] const In& in) "
        "const {{\n");
    each_kept([&](size_t i, const std::string& place) {
      add("    {} = in.v{};\n", place, t_.inputs[i]);
    });
    add("  }}\n  __device__ In again([[maybe_unused]] char* room, "
        "[[maybe_unused]] int64_t k,\n                      const int64_t "
        "(&at)[{}]) const {{\n    In in;\n",
        n_);
    for (size_t i = 0; i < t_.inputs.size(); ++i) {
      if ((row_.kept >> i & 1) != 0) continue;
      add("    in.v{} = read_at<{}>(p.data[{}], at[{}]);\n", t_.inputs[i],
          element(i), i, i);
    }
    each_kept([&](size_t i, const std::string& place) {
      add("    in.v{} = {};\n", t_.inputs[i], place);
    });
    add("    return in;\n  }}\n");
  }
  std::string_view element(size_t i) const {
    return element_name(t_.values->dtype(t_.inputs[i]));
  }
  template <class F>
  void each_kept(const F& f) {
    size_t bytes = 0;
    for (size_t i = 0; i < t_.inputs.size(); ++i) {
      if ((row_.kept >> i & 1) == 0) continue;
      f(i, str("part<{}>(room, {} * p.padded)[k]", element(i), bytes));
      bytes += element_size(t_.values->dtype(t_.inputs[i]));
    }
  }

  void stats() {
    add("  struct Stats {{\n");
    for (const RegionText& t : row_.phases) {
      const RegionNode& n = node(t.reduction);
      for (size_t k = 0; k < n.results.size(); ++k) {
        add("    {} v{};\n", element_name(n.results[k]),
            t.first_value(t.reduction) + static_cast<int>(k));
      }
    }
    add("  }};\n");
  }

  // Returns the number after that of its last accumulator.
  int phase(size_t i, int first_nothing) {
    const RegionText& t = row_.phases[i];
    const ReduceText r = region_reduction(t);
    add("  struct Phase{} {{\n  const Op& op;\n  const Stats& stats;\n  const "
        "Params& p;\n  __device__ Phase{}(const Op& o, const Stats& s) : "
        "op(o), "
        "stats(s), p(o.p) {{}}\n",
        i, i);
    combined(r, r.type, kMapped, [&] { return mapped(t); });
    finish(r, "Stats& to", [&](int k) {
      return str("to.v{}", t.first_value(t.reduction) + k);
    });
    nothing(r, first_nothing);
    add("  }};\n");
    return first_nothing + r.accumulators;
  }

  void finish_row() {
    add("  __device__ void finish_row([[maybe_unused]] const In& in,\n         "
        "                    [[maybe_unused]] const Stats& stats,\n            "
        "                 [[maybe_unused]] const int64_t (&at)[{}]) const {{\n",
        n_);
    nodes(row_.rows);
    report();
    const size_t first = t_.inputs.size() + t_.outputs.size();
    for (size_t i = 0; i < row_.rows.outputs.size(); ++i) {
      add("    write_at(p.data[{}], at[{}], {});\n", first + i, first + i,
          output_value(row_.rows, i));
    }
    add("  }}\n");
  }

  const RegionRowText& row_;
  const size_t n_;  // operands
};

}  // namespace

std::vector<int> region_row_numbers(const RegionRowText& t) {
  std::vector<int> out;
  const auto take = [&](const RegionText& part) {
    const std::vector<int> own = region_numbers(part);
    out.insert(out.end(), own.begin(), own.end());
  };
  for (const RegionText& p : t.phases) take(p);
  take(t.elements);
  take(t.rows);
  return out;
}

int region_row_accumulators(const RegionRowText& t) {
  int n = 0;
  for (const RegionText& p : t.phases) {
    n += p.region->nodes[static_cast<size_t>(p.reduction)].body.n_results;
  }
  return n;
}

int region_row_bytes(const RegionRowText& t) {
  size_t bytes = 0;
  for (size_t i = 0; i < t.elements.inputs.size(); ++i) {
    if ((t.kept >> i & 1) == 0) continue;
    bytes += element_size(t.elements.values->dtype(t.elements.inputs[i]));
  }
  return static_cast<int>(bytes);
}

std::string print_region_row(const std::string& name, const RegionRowText& t) {
  return RowPrinter(name, t).print();
}

}  // namespace sy::cuda::print
