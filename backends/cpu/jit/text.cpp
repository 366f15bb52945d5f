#include <algorithm>
#include <string_view>

#include "backends/cpu/jit/kernels.h"
#include "backends/cpu/jit/request.h"
#include "c10/plugin/library.h"
#include "c10/process/error.h"

// The texts of <sy/jit.h>.

namespace sy::cpu::jit {

namespace {

std::string state_of(const Seen& s) {
  if (!s.refusal.empty()) return "interpreted: " + s.refusal;
  if (s.bytes > 0) {
    return str("compiled, ready after {} us, {} bytes, {} runs",
               s.compile_ns / 1000, s.bytes, s.runs);
  }
  return s.is_queued ? "queued" : "interpreted: not hot";
}

std::string program_line(const Request& q) {
  std::string dtypes;
  for (const Port& p : q.inputs) {
    dtypes += str("{}{}{}", dtypes.empty() ? "" : ", ", p.dtype,
                  p.is_single ? " of one element" : "");
  }
  dtypes += " ->";
  for (const ScalarType t : q.results) dtypes += str(" {}", t);
  return str("  {}\n  {}\n", dtypes, program::program_text(q.program));
}

// The lines of assembly that are instructions or labels.
std::string without_directives(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line(text.data() + at, end - at);
    const size_t first = line.find_first_not_of(" \t");
    const bool directive = first != std::string_view::npos && first > 0 &&
                           (line[first] == '.' || line[first] == '#');
    if (!directive && first != std::string_view::npos) {
      out += str("    {}\n", line);
    }
    at = end + 1;
  }
  return out;
}

std::string text_of_programs(bool with_code) {
  std::string text;
  for (const Seen& s : programs()) {
    Request q;
    if (!decode(s.request, &q)) continue;
    text += str("{} steps on {}, {} million element steps: {}\n",
                q.program.n_steps, q.isa == Isa::kAvx512 ? "AVX-512" : "AVX2",
                s.work / 1000000, state_of(s));
    text += program_line(q);
    if (!with_code || s.bytes == 0) continue;
    text += str("  LLVM:\n{}  machine code:\n{}", code_text(s.request, false),
                without_directives(code_text(s.request, true)));
  }
  return text;
}

class ProgramCompiler final : public sy::jit::Compiler {
 public:
  Counters counters() const override { return jit::counters(); }
  std::string programs_text(bool with_code) const override {
    return text_of_programs(with_code);
  }
  Mode mode() const override { return jit::mode(); }
  void set_mode(Mode m) override { jit::set_mode(m); }
  void set_max_kernels(int64_t n) override {
    set_capacity(static_cast<size_t>(n));
  }
  void finish() override { jit::finish(); }
  void clear() override { jit::clear(); }
};

ProgramCompiler& compiler() {
  static auto* const c = new ProgramCompiler;
  return *c;
}

SY_LIBRARY_IMPL(_, CPU, m) {
  m.service(BackendService::kCompiler, &compiler());
}

}  // namespace

}  // namespace sy::cpu::jit
