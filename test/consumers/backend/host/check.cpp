#include "check.h"

#include <cstdio>

namespace host {
namespace {
int counts[2] = {0, 0};
}

int passed() { return counts[1]; }
int failed() { return counts[0]; }

void check(bool holds, std::string_view what) {
  ++counts[holds];
  std::printf("%s %.*s\n", holds ? "PASS" : "FAIL",
              static_cast<int>(what.size()), what.data());
  std::fflush(stdout);  // before a fork, and before whatever kills us
}

void detail::check_message(std::string_view what, const std::string& message,
                           std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts) {
    if (message.find(part) == std::string::npos) {
      check(false, std::string(what) + ": no '" + std::string(part) +
                       "' in: " + message);
      return;
    }
  }
  check(true, what);
}

void check_close(const sy::Tensor& got, const sy::Tensor& expected,
                 std::string_view what) {
  const sy::Device cpu(sy::kCPU);
  const sy::Tensor a = got.to(cpu), b = expected.to(cpu);
  if (a.sizes() != b.sizes() || a.scalar_type() != b.scalar_type()) {
    check(false, std::string(what) + ": " + sy::describe(a) + " beside " +
                     sy::describe(b));
    return;
  }
  const double most = a.sub(b).abs().amax().to(sy::kDouble).item<double>();
  check(most <= 1e-5,
        std::string(what) +
            (most <= 1e-5 ? "" : sy::str(": differ by {}", most)));
}

void section(std::string_view name, const std::function<void()>& checks) {
  try {
    checks();
  } catch (const std::exception& e) {
    check(false, std::string(name) + ": " + e.what());
  }
}

}  // namespace host
