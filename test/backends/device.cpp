#include "test/backends/device.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>

#include "c10/device/device_guard.h"
#include "c10/device/stream.h"
#include "c10/dispatch/dispatcher.h"
#include "c10/plugin/library.h"
#include "c10/plugin/load_library.h"
#include "c10/schema/function_schema.h"

namespace sy::families {

namespace {

std::string variable(const char* name, const std::string& otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? otherwise : value;
}
std::string device_name() { return variable("SY_TEST_DEVICE", "cpu"); }

void load_libraries() {
  std::istringstream names(variable("SY_TEST_LIBRARIES", device_name()));
  for (std::string name; std::getline(names, name, ',');) {
    load_library(name).keep();
  }
}

// ---- tensors of the test are made on the device

constexpr DispatchKeySet kPlaced = DispatchKey::TransformFront;

// Whether the program made this call, not another operator.
bool is_outermost() { return (thread_state.calls & 0xffff) == 1; }

// A call of an operator that makes tensors of nothing but numbers.
void place(const Kernel&, const OperatorEntry& op, DispatchKeySet keys,
           Value* args, size_t num_args, Value* results, size_t num_results) {
  const int at = op.schema().argument_index("device");
  Value& device = args[at];
  if (device.is_none() && is_outermost()) device = Value(test_device());
  OperatorHandle(&op).redispatch_boxed(keys - kPlaced, args, num_args, results,
                                       num_results);
}

bool makes_tensors(const FunctionSchema& schema) {
  return schema.argument_index("device") >= 0 &&
         std::ranges::none_of(schema.arguments(), [](const Argument& a) {
           return a.type.is_tensor_like();
         });
}

SY_LIBRARY_IMPL(aten, TransformFront, m) {
  if (on_cpu()) return;
  for (const OperatorHandle op : Dispatcher::singleton().operators()) {
    if (op.name().starts_with("aten::") && makes_tensors(op.schema())) {
      m.impl(op.name().substr(6), Kernel::from_boxed(&place));
    }
  }
}

// ---- where the device differs

std::string skips_file() { return "skips_" + device_name() + ".txt"; }

enum class How { kFails, kSlow, kWords };

struct Skip {
  How how;
  std::string reason;
};

std::optional<How> how_of(const std::string& word) {
  if (word == "fails") return How::kFails;
  if (word == "slow") return How::kSlow;
  if (word == "words") return How::kWords;
  return std::nullopt;
}

// The lines of this program's family, by test.
std::map<std::string, Skip> read_skips() {
  std::map<std::string, Skip> skips;
  if (on_cpu()) return skips;
  std::ifstream file("test/backends/" + skips_file());
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string family, test, how, reason;
    words >> family >> test >> how >> std::ws;
    std::getline(words, reason);
    SY_CHECK(how_of(how).has_value() && !reason.empty(), Value,
             "[skips] line: expected a family, a test, fails, slow or words, "
             "and a reason, got {}",
             line);
    if (family + "_test" != program_invocation_short_name) continue;
    const bool is_new = skips.emplace(test, Skip{*how_of(how), reason}).second;
    SY_CHECK(is_new, Value, "[skips] line: expected one for {}, got two", test);
  }
  return skips;
}

// Whether errors may have other texts in this test, and how many had.
struct Texts {
  bool may_differ = false;
  int different = 0;
} texts;

class OnDevice final : public ::testing::EmptyTestEventListener {
  using Reporter = ::testing::ScopedFakeTestPartResultReporter;

  void OnTestProgramStart(const ::testing::UnitTest& program) override {
    init();
    test_device();
    skips_ = read_skips();
    std::set<std::string> tests;
    for (int i = 0; i < program.total_test_suite_count(); ++i) {
      const ::testing::TestSuite& suite = *program.GetTestSuite(i);
      for (int j = 0; j < suite.total_test_count(); ++j) {
        tests.insert(name_of(*suite.GetTestInfo(j)));
      }
    }
    for (const auto& [test, skip] : skips_) {
      EXPECT_TRUE(tests.contains(test))
          << skips_file() << " names " << test << ", which is no test";
    }
  }

  void OnTestStart(const ::testing::TestInfo& test) override {
    const auto at = skips_.find(name_of(test));
    skip_ = at == skips_.end() ? nullptr : &at->second;
    if (is_listed(How::kSlow)) GTEST_SKIP() << skip_->reason;
    texts = {is_listed(How::kWords), 0};
    if (is_listed(How::kFails)) {
      reporter_ = std::make_unique<Reporter>(Reporter::INTERCEPT_ALL_THREADS,
                                             &results_.emplace());
    }
    thread_state.included |= kPlaced.bits();
  }

  void OnTestEnd(const ::testing::TestInfo& test) override {
    thread_state.included &= ~kPlaced.bits();
    reporter_ = nullptr;
    if (is_listed(How::kFails) && has_failed()) GTEST_SKIP() << skip_->reason;
    EXPECT_FALSE(is_listed(How::kFails))
        << name_of(test) << " passes: remove its line from " << skips_file();
    EXPECT_FALSE(is_listed(How::kWords) && texts.different == 0)
        << "errors of " << name_of(test)
        << " have the texts that it expects: remove its line from "
        << skips_file();
  }

  bool is_listed(How how) const {
    return skip_ != nullptr && skip_->how == how;
  }
  bool has_failed() const {
    for (int i = 0; i < results_->size(); ++i) {
      if (results_->GetTestPartResult(i).failed()) return true;
    }
    return false;
  }
  static std::string name_of(const ::testing::TestInfo& test) {
    return std::string(test.test_suite_name()) + "." + test.name();
  }

  std::map<std::string, Skip> skips_;
  const Skip* skip_ = nullptr;  // of the test that runs
  std::optional<::testing::TestPartResultArray> results_;
  std::unique_ptr<Reporter> reporter_;
};

[[maybe_unused]] const bool listens = [] {
  if (!on_cpu()) {
    ::testing::UnitTest::GetInstance()->listeners().Append(new OnDevice);
  }
  return true;
}();

}  // namespace

bool on_cpu() { return device_name() == "cpu"; }

Device test_device() {
  static const Device device = [] {
    if (!on_cpu()) load_libraries();
    return with_index(Device(device_name()));
  }();
  return device;
}

Generator generator(uint64_t seed) {
  return make_generator(
      seed, Device(variable("SY_TEST_GENERATOR", test_device().str())));
}

void finish() { synchronize(test_device()); }

void finish(const Tensor& result) {
  if (result.defined()) to_device(result, Device(kCPU));
  finish();
}

void check_error(const ExpectedError& expected, const std::exception* error) {
  if (error == nullptr) {
    ADD_FAILURE_AT(expected.file, expected.line)
        << expected.call << " did not throw";
    return;
  }
  const std::string what = error->what();
  if (typeid(*error) != expected.kind) {
    ADD_FAILURE_AT(expected.file, expected.line)
        << expected.call << " threw another error: " << what;
  }
  if (what.find(expected.text) != std::string::npos) return;
  ++texts.different;
  if (texts.may_differ) return;
  ADD_FAILURE_AT(expected.file, expected.line)
      << expected.call << ": expected an error with the text " << expected.text
      << ", got " << what;
}

Tensor MakeTensor::operator()(const detail::TensorData& data,
                              const TensorOptions& options) const {
  if (options.device_opt().has_value()) return sy::tensor(data, options);
  return sy::tensor(data, options.device(test_device()));
}

}  // namespace sy::families
