#include "frontend/export/export_program.h"

#include <algorithm>

#include "aten/operators.h"
#include "aten/ops/factory.h"
#include "frontend/export/write/archive.h"
#include "frontend/export/write/names.h"
#include "frontend/export/write/program_json.h"
#include "frontend/export/write/recorder.h"

namespace sy::exporting {

namespace {

// Runs that tell formulas apart and check them, beside the first ones.
constexpr size_t kMoreRuns = 24;
// All sizes at once are checked at so many times those of the example, and one
// by itself at the most that it may be, if the inputs are not larger.
constexpr int64_t kLargestCheck = 4;
constexpr double kLargestInputs = 1 << 20;  // elements

class Exporter {
 public:
  Exporter(const nn::Module& module, const ModuleCall& call,
           const std::vector<ArchiveValue>& inputs,
           const ExportOptions& options)
      : module_(module), call_(call), options_(options) {
    recorded_.inputs = inputs;
    add_names();
    add_held();
    tensors_ = ArchiveValue::list(inputs).tensors();
    check_devices();
    for (const DynamicDim& d : options.dynamic_dims) add_dim(d);
  }

  void write(const std::string& path) {
    std::vector<int64_t> example;
    for (const int64_t s : first_) example.push_back(s);
    run(example);
    for (const auto& sizes : first_sizes()) run(sizes);
    ProgramJson program = settled();
    write_archive(path, options_.model, recorded_, program);
  }

 private:
  void add_names() {
    auto& names = recorded_.input_names;
    const size_t n = recorded_.inputs.size();
    names = options_.argument_names;
    if (names.empty()) {
      for (size_t i = 0; i < n; ++i) names.push_back(str("args_{}", i));
    }
    SY_CHECK(names.size() == n, Value,
             "[export_program] arguments: expected {} names, got {}", n,
             names.size());
    SY_CHECK(options_.keywords <= n, Value,
             "[export_program] keywords: expected at most {}, got {}", n,
             options_.keywords);
    recorded_.keywords = options_.keywords;
    for (size_t i = 0; i < n; ++i) {
      const auto same = std::count(names.begin(), names.end(), names[i]);
      SY_CHECK(is_variable(names[i]) && same == 1, Value,
               "[export_program] arguments: expected names of variables, each "
               "once, got '{}'",
               names[i]);
    }
    SY_CHECK(is_file_name(options_.model), Value,
             "[export_program] model: expected a name without slashes, got "
             "'{}'",
             options_.model);
  }

  static bool is_file_name(const std::string& s) {
    return !s.empty() && s.find_first_of("/\\") == s.npos;
  }

  void add_held() {
    const nn::StateDict state = module_.state_dict();
    const NamedTensors parameters = module_.named_parameters();
    const NamedTensors buffers = module_.named_buffers();
    for (const auto& item : parameters)
      hold(item.key(), true, true, item.value());
    add_other_names(state, parameters, buffers, true);
    for (const auto& item : buffers) {
      hold(item.key(), false, state.contains(item.key()), item.value());
    }
    add_other_names(state, buffers, parameters, false);
    parameters_and_buffers_ = parameters.size() + buffers.size();
  }

  void hold(const std::string& name, bool is_parameter, bool persistent,
            const Tensor& t) {
    SY_CHECK(is_free_in_python(name), Value,
             "[export_program] {}: Python's modules have a function of that "
             "name: call the tensor or module another",
             name);
    recorded_.held.push_back({name, is_parameter, persistent, t});
  }

  // A tensor that stands in several places has a name for each of them.
  void add_other_names(const nn::StateDict& state, const NamedTensors& of,
                       const NamedTensors& beside, bool are_parameters) {
    for (const auto& item : state) {
      if (of.contains(item.key()) || beside.contains(item.key())) continue;
      const Tensor& other = item.value();
      for (const auto& first : of) {
        const Tensor& t = first.value();
        if (!other.is_alias_of(t) || other.sizes() != t.sizes() ||
            other.strides() != t.strides() ||
            other.storage_offset() != t.storage_offset()) {
          continue;
        }
        hold(item.key(), are_parameters, true, t);
        break;
      }
    }
  }

  void check_devices() const {
    const auto check = [](const std::string& what, const Tensor& t) {
      const Device d = t.device();
      SY_CHECK(d.is_cpu() || d.is_cuda(), Value,
               "[export_program] {}: expected a tensor on cpu or cuda, got {}: "
               "move the model first",
               what, to_string(Value::borrowed(t)));
    };
    for (const HeldTensor& h : recorded_.held) check(h.name, h.tensor);
    for (size_t i = 0; i < tensors_.size(); ++i) {
      check(str("input {}", i), tensors_[i]);
    }
  }

  void add_dim(const DynamicDim& d) {
    SY_CHECK(d.input < tensors_.size(), Index,
             "[export_program] dynamic: expected an input below {}, got {}",
             tensors_.size(), d.input);
    const Tensor& t = tensors_[d.input];
    const int64_t dim = d.dim < 0 ? d.dim + t.dim() : d.dim;
    SY_CHECK(dim >= 0 && dim < t.dim(), Index,
             "[export_program] dynamic: expected a dim of input {}, {}, got {}",
             d.input, to_string(Value::borrowed(t)), d.dim);
    const int64_t size = t.size(dim);
    SY_CHECK(d.min >= 0 && d.min <= size && size <= d.max, Value,
             "[export_program] dynamic: {}: expected a range that the example "
             "is in, got {} to {} for {}",
             d.name, d.min, d.max, size);
    auto& symbols = recorded_.symbols;
    const auto at =
        std::find_if(symbols.begin(), symbols.end(),
                     [&](const SizeSymbol& s) { return s.name == d.name; });
    const auto symbol = static_cast<size_t>(at - symbols.begin());
    if (at == symbols.end()) {
      symbols.push_back({d.name, d.min, d.max});
      first_.push_back(size);
      recorded_.sizes.emplace_back();
    } else {
      at->min = std::max(at->min, d.min);
      at->max = std::min(at->max, d.max);
      SY_CHECK(first_[symbol] == size, Value,
               "[export_program] dynamic: {}: expected one size in the "
               "example, got {} and {}",
               d.name, first_[symbol], size);
    }
    recorded_.dims.push_back({d.input, static_cast<size_t>(dim), symbol});
  }

  // ---- runs

  // A tensor like the example's, with the sizes of a run. It repeats or drops
  // elements, so that indices stay in their range.
  Tensor resized(size_t tensor, const std::vector<int64_t>& sizes) const {
    const Tensor& t = tensors_[tensor];
    const NoGradGuard no_grad;
    Tensor out = t.detach();
    bool same = true;
    for (const Recorded::SymbolDim& d : recorded_.dims) {
      const auto dim = static_cast<int64_t>(d.dim);
      const int64_t size = sizes[d.symbol];
      if (d.tensor != tensor || size == out.size(dim)) continue;
      same = false;
      const Tensor places = sy::arange(size, t.options().dtype(kLong))
                                .remainder(std::max<int64_t>(out.size(dim), 1));
      out = out.index_select(dim, places);
    }
    if (same) {
      Tensor copy = sy::empty_strided(t.sizes(), t.strides(), t.options());
      out = copy.copy_(out);
    } else {
      out = out.contiguous(t.suggest_memory_format()).clone();
    }
    if (t.requires_grad()) out.requires_grad_();
    return out;
  }

  void run(const std::vector<int64_t>& sizes) {
    std::vector<Tensor> tensors;
    for (size_t i = 0; i < tensors_.size(); ++i) {
      tensors.push_back(resized(i, sizes));
    }
    const std::vector<ArchiveValue> inputs =
        ArchiveValue::list(recorded_.inputs).with_tensors(tensors).items();
    RecordOptions options{options_.namespaces};
    try {
      recorded_.runs.push_back(
          record(module_, recorded_.held, call_, inputs, options));
    } catch (Error& e) {
      if (!recorded_.runs.empty()) {
        e.add_context(str("in export_program, for {}", text_of(sizes)));
      }
      throw;
    }
    for (size_t s = 0; s < sizes.size(); ++s) {
      recorded_.sizes[s].push_back(sizes[s]);
    }
    refuse_problems(recorded_.runs.back());
    check_held(recorded_.runs.back());
  }

  std::string text_of(const std::vector<int64_t>& sizes) const {
    std::string out;
    for (size_t s = 0; s < sizes.size(); ++s) {
      out += str("{}{} {}", s == 0 ? "" : ", ", recorded_.symbols[s].name,
                 sizes[s]);
    }
    return out;
  }

  // A lazy module makes its parameters when it is called first.
  void check_held(const Trace& run) const {
    for (size_t i = 0; i < recorded_.held.size(); ++i) {
      const HeldTensor& h = recorded_.held[i];
      SY_CHECK(IntArrayRef(run.values[i].sizes) == h.tensor.sizes(), Value,
               "[export_program] {}: its sizes change in the call, from {} to "
               "{}: call a lazy module once before",
               h.name, to_string(run.values[i].sizes),
               to_string(h.tensor.sizes()));
    }
    const size_t now =
        module_.named_parameters().size() + module_.named_buffers().size();
    SY_CHECK(now == parameters_and_buffers_, Value,
             "[export_program] expected a module whose call registers nothing, "
             "got {} parameters and buffers, and {} after it: call it once "
             "before",
             parameters_and_buffers_, now);
  }

  static void refuse_problems(const Trace& run) {
    if (run.problems.empty()) return;
    std::string text;
    std::vector<std::string> told;
    for (const std::string& p : run.problems) {
      if (std::find(told.begin(), told.end(), p) != told.end()) continue;
      told.push_back(p);
      text += "\n  " + p;
    }
    fail(ErrorKind::Value, "[export_program] the module cannot be exported:{}",
         text);
  }

  // Other sizes than the example's: each symbol by itself, and all together.
  std::vector<std::vector<int64_t>> first_sizes() const {
    std::vector<std::vector<int64_t>> out;
    const auto add = [&](const std::vector<int64_t>& sizes) {
      if (sizes != first_ && std::count(out.begin(), out.end(), sizes) == 0) {
        out.push_back(sizes);
      }
    };
    const auto fit = [&](size_t s, int64_t size) {
      const SizeSymbol& symbol = recorded_.symbols[s];
      // Sizes of 0 and 1 are special to some operators.
      const int64_t low = std::max<int64_t>(symbol.min, 2);
      return std::clamp(size, std::min(low, symbol.max), symbol.max);
    };
    std::vector<int64_t> all = first_;
    for (size_t s = 0; s < first_.size(); ++s) {
      const int64_t n = first_[s];
      for (const int64_t size : {n + 1, 2 * n + 3, n / 2, n - 1}) {
        std::vector<int64_t> sizes = first_;
        sizes[s] = fit(s, size);
        add(sizes);
      }
      all[s] = fit(s, n + 2 + static_cast<int64_t>(s));
    }
    add(all);
    return out;
  }

  // Sizes that no formula was made of: the least, large ones, and the most.
  std::vector<std::vector<int64_t>> check_sizes() const {
    std::vector<std::vector<int64_t>> out;
    std::vector<int64_t> least, large;
    for (size_t s = 0; s < first_.size(); ++s) {
      const SizeSymbol& symbol = recorded_.symbols[s];
      const auto size = static_cast<int64_t>(s);
      least.push_back(std::max<int64_t>(symbol.min, 1));
      large.push_back(
          std::min(symbol.max, kLargestCheck * first_[s] + 1 + size));
      std::vector<int64_t> most = first_;
      most[s] = symbol.max;
      if (elements(most) <= kLargestInputs) out.push_back(most);
    }
    out.push_back(large);
    out.push_back(least);
    return out;
  }

  // Of all inputs that are tensors.
  double elements(const std::vector<int64_t>& sizes) const {
    double all = 0;
    for (size_t i = 0; i < tensors_.size(); ++i) {
      auto one = static_cast<double>(tensors_[i].numel());
      for (const Recorded::SymbolDim& d : recorded_.dims) {
        if (d.tensor != i) continue;
        one *= static_cast<double>(sizes[d.symbol]) /
               static_cast<double>(std::max<int64_t>(first_[d.symbol], 1));
      }
      all += one;
    }
    return all;
  }

  // Sizes that no run had.
  std::vector<int64_t> other_sizes() const {
    std::vector<int64_t> out;
    for (size_t s = 0; s < first_.size(); ++s) {
      const SizeSymbol& symbol = recorded_.symbols[s];
      const auto& had = recorded_.sizes[s];
      int64_t size = *std::max_element(had.begin(), had.end()) + 1;
      if (size > symbol.max) size = std::max<int64_t>(symbol.min, 1);
      while (size < symbol.max &&
             std::find(had.begin(), had.end(), size) != had.end()) {
        ++size;
      }
      out.push_back(size);
    }
    return out;
  }

  // The program, once further runs change nothing any more.
  ProgramJson settled() {
    ProgramJson program = program_json(recorded_);
    if (recorded_.symbols.empty()) return program;
    std::vector<std::vector<int64_t>> checks = check_sizes();
    const size_t most_runs = recorded_.runs.size() + kMoreRuns;
    while (recorded_.runs.size() < most_runs) {
      if (program.ambiguity) {
        std::vector<int64_t> sizes = first_;
        sizes[program.ambiguity->symbol] = program.ambiguity->size;
        run(sizes);
      } else if (!checks.empty()) {
        run(checks.back());
        checks.pop_back();
      } else {
        return program;
      }
      ProgramJson next = program_json(recorded_);
      // Formulas that were wrong have others now, which are to be checked.
      if (next.text != program.text && checks.empty()) {
        checks.push_back(other_sizes());
      }
      program = std::move(next);
    }
    fail(ErrorKind::Value,
         "[export_program] expected sizes that depend on the inputs' by simple "
         "formulas; after {} runs there is none",
         most_runs);
  }

  const nn::Module& module_;
  const ModuleCall& call_;
  const ExportOptions& options_;
  Recorded recorded_;
  size_t parameters_and_buffers_ = 0;
  std::vector<Tensor> tensors_;  // of the inputs
  std::vector<int64_t> first_;   // the example's size of each symbol
};

}  // namespace

void wrong_number_of_inputs(size_t got) {
  fail(ErrorKind::Value,
       "[export_program] inputs: expected as many tensors as the module's "
       "forward takes, at most {}, got {}; others are given as std::make_tuple",
       kMostTensors, got);
}

void export_module(const nn::Module& module, const ModuleCall& call,
                   const std::vector<ArchiveValue>& inputs,
                   const std::string& path, const ExportOptions& options) {
  Exporter(module, call, inputs, options).write(path);
}

}  // namespace sy::exporting
