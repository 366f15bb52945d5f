#include "frontend/optim/options.h"

#include <algorithm>

#include "aten/ops/factory.h"
#include "aten/ops/indexing.h"
#include "c10/dispatch/capture.h"
#include "c10/dispatch/thread_state.h"

namespace sy::optim {

namespace {

std::string text_of(double value) { return str("{}", value); }

}  // namespace

void OptionCheck::failed(const char* option, const std::string& expected,
                         const std::string& got) const {
  fail(ErrorKind::Value, "{}{}: expected {}, got {}", where_, option, expected,
       got);
}

// The conditions are written so that NaN fails.
void OptionCheck::at_least(const char* option, double value,
                           double least) const {
  if (!(value >= least)) {
    failed(option, "at least " + text_of(least), text_of(value));
  }
}

void OptionCheck::at_most(const char* option, double value, double most) const {
  if (!(value <= most)) {
    failed(option, "at most " + text_of(most), text_of(value));
  }
}

void OptionCheck::decay(const char* option, double value) const {
  if (!(value >= 0 && value < 1)) {
    failed(option, "at least 0 and less than 1", text_of(value));
  }
}

void OptionCheck::decays(const char* option,
                         const std::tuple<double, double>& values) const {
  decay((std::string(option) + "[0]").c_str(), std::get<0>(values));
  decay((std::string(option) + "[1]").c_str(), std::get<1>(values));
}

OptimizerOptions::~OptimizerOptions() = default;

std::unique_ptr<OptimizerOptions> OptimizerOptions::clone() const {
  fail(ErrorKind::NotImplemented,
       "[OptimizerOptions] clone: these options do not override it");
}

std::unique_ptr<OptimizerOptions> OptimizerOptions::fresh() const {
  return nullptr;
}

double OptimizerOptions::get_lr() const {
  fail(ErrorKind::NotImplemented,
       "[OptimizerOptions] get_lr: these options have no lr");
}

void OptimizerOptions::set_lr(double) {
  fail(ErrorKind::NotImplemented,
       "[OptimizerOptions] set_lr: these options have no lr");
}

const char* OptimizerOptions::optimizer() const { return "Optimizer"; }

std::vector<OptionRef> OptimizerOptions::list() { return {}; }

void OptimizerOptions::check(const OptionCheck&) const {}

void OptimizerOptions::check_parameter(const Tensor&,
                                       const std::string&) const {}

namespace {

// A step that is captured reads it as any tensor of the program: no capture
// records the call that makes it.
Tensor number_of(double number, Device device) {
  const ThreadModesGuard no_modes;
  return full({}, number, TensorOptions(kDouble).device(device));
}

}  // namespace

const Tensor& OptimizerOptions::lr_tensor(Device device) {
  for (const Tensor& t : lr_tensors_) {
    if (t.device() == device) return t;
  }
  refresh_tensors();
  lr_in_tensors_ = get_lr();
  return lr_tensors_.emplace_back(number_of(get_lr(), device));
}

void OptimizerOptions::fill_lr_tensors(double lr) {
  const NoGradGuard no_grad;
  if (!lr_tensors_.empty()) tell_capture_acts("an lr changes");
  lr_in_tensors_ = lr;
  for (const Tensor& t : lr_tensors_) t.fill_(lr);
}

ptrdiff_t OptimizerOptions::place_of(const double& number) const {
  return reinterpret_cast<const char*>(&number) -
         reinterpret_cast<const char*>(this);
}

void OptimizerOptions::vary(const double& number) {
  if (!varies(number)) varying_.push_back(place_of(number));
}

bool OptimizerOptions::varies(const double& number) const {
  return !varying_.empty() && std::find(varying_.begin(), varying_.end(),
                                        place_of(number)) != varying_.end();
}

const Tensor& OptimizerOptions::number_tensor(const double& number,
                                              Device device) {
  for (const NumberTensor& n : numbers_) {
    if (n.number == &number && n.tensor.device() == device) return n.tensor;
  }
  return numbers_
      .emplace_back(NumberTensor{&number, number, number_of(number, device)})
      .tensor;
}

void OptimizerOptions::refresh_numbers() {
  const NoGradGuard no_grad;
  for (NumberTensor& n : numbers_) {
    if (n.value == *n.number) continue;
    tell_capture_acts("an option of an optimizer changes");
    n.value = *n.number;
    n.tensor.fill_(n.value);
  }
}

void OptimizerOptions::note_set(const char* option) {
  if (!all_set_ && !is_set(option)) set_.push_back(option);
}

bool OptimizerOptions::is_set(std::string_view option) const {
  return all_set_ || std::find(set_.begin(), set_.end(), option) != set_.end();
}

void OptimizerOptions::inherit(OptimizerOptions& defaults) {
  const auto usual = fresh();
  const auto own = list(), from = defaults.list();
  const auto to_be = usual ? usual->list() : std::vector<OptionRef>();
  for (size_t i = 0; i < to_be.size(); ++i) {
    if (is_set(own[i].name)) continue;
    std::visit(
        [&](auto* value) {
          using P = decltype(value);
          if (*value == *std::get<P>(to_be[i].value)) {
            *value = *std::get<P>(from[i].value);
          }
        },
        own[i].value);
  }
  all_set_ = true;
}

const OptionRef* find_option(const std::vector<OptionRef>& options,
                             std::string_view name) {
  for (const OptionRef& o : options) {
    if (o.name == name) return &o;
  }
  return nullptr;
}

}  // namespace sy::optim
