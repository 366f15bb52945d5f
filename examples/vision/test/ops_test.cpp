#include <sy/io.h>
#include <sy/sy.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "c10/schema/function_schema.h"
#include "compare.h"

// Repeats the calls that record_ops.py recorded. Usage: ops_test LIBRARY FILE
// [DEVICE LIBRARY]

namespace {

using sy::Tensor;

// The gradient of a result; record_ops.py has the same.
Tensor weights(const Tensor& t) {
  const Tensor i = sy::arange(t.numel(), sy::TensorOptions(sy::kDouble));
  return ((i * 37).remainder(11) - 5)
      .div(4)
      .reshape(t.sizes())
      .to(t.device(), t.scalar_type());
}

struct Report {
  int64_t calls = 0, gradients = 0, wrong = 0;
  double results = 0, grads = 0;  // largest differences
};

double bound(sy::ScalarType dtype) {
  switch (dtype) {
    case sy::kDouble: return 1e-12;
    case sy::kFloat: return 1e-5;
    default: return 2e-3;
  }
}

class Case {
 public:
  Case(const sy::SafetensorsFile& file, std::string key, sy::Device device)
      : file_(file), key_(std::move(key)), device_(device) {}

  void run(const std::string& text, std::map<std::string, Report>& reports) {
    std::istringstream words(text);
    std::string name, word;
    words >> name;
    for (size_t i = 0; words >> word; ++i) add(word, i);
    const sy::OperatorHandle op =
        sy::Dispatcher::singleton().find_or_throw("torchvision::" + name);
    Report& report = reports[name];
    std::vector<sy::Value> results(op.schema().returns().size());
    op.call_boxed(values_.data(), values_.size(), results.data(),
                  results.size());
    ++report.calls;
    std::vector<Tensor> outputs, by;
    for (size_t i = 0; i < results.size(); ++i) {
      const auto& out = static_cast<const Tensor&>(results[i].to_tensor());
      compare("out." + std::to_string(i), out, report, &report.results);
      if (!out.requires_grad()) continue;
      outputs.push_back(out);
      by.push_back(weights(out));
    }
    if (inputs_.empty()) return;
    const auto grads = sy::autograd::grad(outputs, inputs_, by);
    for (size_t i = 0; i < grads.size(); ++i) {
      compare("grad." + std::to_string(places_[i]), grads[i], report,
              &report.grads);
      ++report.gradients;
    }
  }

 private:
  void add(const std::string& word, size_t place) {
    const char* const number = word.c_str() + 1;
    switch (word[0]) {
      case 'f': values_.emplace_back(std::strtod(number, nullptr)); return;
      case 'i':
        values_.emplace_back(int64_t{std::strtoll(number, nullptr, 10)});
        return;
      case 'b': values_.emplace_back(*number == '1'); return;
      default: break;
    }
    Tensor t = file_.get(key_ + "." + std::to_string(place)).to(device_);
    if (word[0] == 'T') {
      inputs_.push_back(t.requires_grad_());
      places_.push_back(place);
    }
    values_.emplace_back(sy::TensorBase(t));
  }

  void compare(const std::string& what, const Tensor& got, Report& report,
               double* most) {
    const Tensor expected = file_.get(key_ + "." + what);
    const double d = vision::difference(got, expected);
    *most = std::max(*most, got.scalar_type() == sy::kHalf ? 0 : d);
    if (d <= bound(got.scalar_type())) return;
    ++report.wrong;
    std::printf("case %s %s: difference %.1e\n", key_.c_str(), what.c_str(), d);
  }

  const sy::SafetensorsFile& file_;
  std::string key_;
  sy::Device device_;
  std::vector<sy::Value> values_;
  std::vector<Tensor> inputs_;
  std::vector<size_t> places_;
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3 && argc != 5) {
    std::fprintf(stderr, "usage: ops_test LIBRARY FILE [DEVICE LIBRARY]\n");
    return 2;
  }
  sy::load_library(argv[1]).keep();
  if (argc == 5) sy::load_library(argv[4]).keep();
  const sy::Device device(argc == 5 ? argv[3] : "cpu");
  const sy::SafetensorsFile file(argv[2]);
  std::map<std::string, Report> reports;
  for (const auto& [key, text] : file.metadata()) {
    if (key != "format") Case(file, key, device).run(text, reports);
  }
  int64_t wrong = 0;
  for (const auto& [name, r] : reports) {
    std::printf(
        "%-14s %5lld calls, results within %.1e; %5lld gradients, "
        "within %.1e; %lld wrong\n",
        name.c_str(), static_cast<long long>(r.calls), r.results,
        static_cast<long long>(r.gradients), r.grads,
        static_cast<long long>(r.wrong));
    wrong += r.wrong;
  }
  return wrong == 0 && !reports.empty() ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "ops_test: %s\n", e.what());
  return 1;
}
