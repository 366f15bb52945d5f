#include "test/backends/cuda/fake/nvrtc/options.h"

#include <cstdlib>
#include <cstring>
#include <string_view>

namespace fake_nvrtc {
namespace {

// Options that change nothing here. With a value: "=…", or the next option.
constexpr std::string_view kIgnored[] = {
    "--minimal",
    "-minimal",
    "--device-as-default-execution-space",
    "-default-device",
    "--device-debug",
    "-G",
    "--generate-line-info",
    "-lineinfo",
    "--disable-warnings",
    "-w",
    "--restrict",
    "-restrict",
    "--no-source-include",
    "-no-source-include",
    "--device-int128",
    "-device-int128",
    "--extra-device-vectorization",
    "-extra-device-vectorization",
    "--relocatable-device-code",
    "-rdc",
    "-dc",
    "-dw",
    "--device-c",
    "-ewp",
    "--extensible-whole-program",
    "--no-cache",
    "-no-cache",
    "--builtin-move-forward",
    "-builtin-move-forward",
    "--builtin-initializer-list",
    "-builtin-initializer-list",
    "--display-error-number",
    "-err-no",
    "--no-display-error-number",
    "-no-err-no",
    "--pch",
    "-pch",
    "--dlink-time-opt",
    "-dlto",
    "--brief-diagnostics",
    "-brief-diag",
    "--dopt",
    "-dopt",
    "--Ofast-compile",
    "-Ofc",
    "--time",
    "-time",
    "--split-compile",
    "-split-compile",
    "--ptxas-options",
    "-Xptxas",
    "--maxrregcount",
    "-maxrregcount",
    "--diag-suppress",
    "-diag-suppress",
    "--diag-error",
    "--diag-warn",
    "--modify-stack-limit",
    "-modify-stack-limit",
    "--fdevice-syntax-only",
    "--fdevice-time-trace",
    "--threads",
};

// Options that make floats less exact, in ways that the host has not, and the
// value that asks for it. Kernels whose numbers are others on a GPU would pass.
struct FastMath {
  std::string_view name, fast;
};
constexpr FastMath kFastMath[] = {
    {"ftz", "true"}, {"prec-sqrt", "false"}, {"prec-div", "false"}};

const FastMath* fast_math(std::string_view name) {
  if (name.starts_with("--")) name.remove_prefix(1);
  if (!name.starts_with("-")) return nullptr;
  for (const FastMath& f : kFastMath) {
    if (name.substr(1) == f.name) return &f;
  }
  return nullptr;
}

struct Word {
  std::string name, value;
  bool has_value = false;
};

bool is_ignored(const std::string& name) {
  for (std::string_view i : kIgnored) {
    if (name == i) return true;
  }
  return false;
}

bool set_target(const std::string& value, Options* options) {
  const bool real = value.starts_with("sm_");
  if (!real && !value.starts_with("compute_")) return false;
  char* end;
  const char* digits = value.c_str() + (real ? 3 : 8);
  const long target = std::strtol(digits, &end, 10);
  if (target < 75 || target > 130) return false;
  if (*end != 0 && std::strcmp(end, "a") != 0 && std::strcmp(end, "f") != 0) {
    return false;
  }
  options->target = static_cast<int>(target);
  options->virtual_target = !real;
  return true;
}

std::string refusal(const std::string& option) {
  return "fake_nvrtc: error: " + option +
         ": the host computes floats exactly; a GPU that is told so does not\n";
}

}  // namespace

bool parse_options(const std::vector<std::string>& given, Options* options,
                   std::string* error) {
  bool contract = true;  // NVRTC's default
  for (size_t i = 0; i < given.size(); ++i) {
    *error = "nvrtc: error: unrecognized option " + given[i] + " found\n";
    Word w;
    const size_t equals = given[i].find('=');
    w.name = given[i].substr(0, equals);
    if (equals != std::string::npos) {
      w.value = given[i].substr(equals + 1);
      w.has_value = true;
    }
    // "-DX=1" and "-Ipath" have no '=' of their own.
    for (const char* joined : {"-D", "-U", "-I"}) {
      if (!given[i].starts_with(joined) || given[i].size() == 2) continue;
      w = {joined, given[i].substr(2), true};
    }
    const auto value = [&]() -> const std::string& {
      if (!w.has_value && i + 1 < given.size()) w.value = given[++i];
      return w.value;
    };
    if (w.name == "-D" || w.name == "--define-macro") {
      options->arguments.push_back("-D" + value());
    } else if (w.name == "-U" || w.name == "--undefine-macro") {
      options->arguments.push_back("-U" + value());
    } else if (w.name == "-I" || w.name == "--include-path") {
      options->include_paths.push_back(value());
      options->arguments.push_back("-I" + w.value);
    } else if (w.name == "-include" || w.name == "--pre-include") {
      options->arguments.push_back("-include");
      options->arguments.push_back(value());
    } else if (w.name == "--gpu-architecture" || w.name == "-arch") {
      if (!set_target(value(), options)) return false;
    } else if (w.name == "--fmad" || w.name == "-fmad") {
      value();
      if (w.value != "true" && w.value != "false") return false;
      contract = w.value == "true";
    } else if (w.name == "--std" || w.name == "-std") {
      // The emulator's headers need C++20; kernels are written for 17.
      if (!value().starts_with("c++")) return false;
    } else if (w.name == "--use_fast_math" || w.name == "-use_fast_math") {
      *error = refusal(given[i]);
      return false;
    } else if (const FastMath* f = fast_math(w.name)) {
      value();
      if (w.value != "true" && w.value != "false") return false;
      if (w.value == f->fast) {
        *error = refusal(w.name + "=" + w.value);
        return false;
      }
    } else if (w.name == "--ptxas-options" || w.name == "-Xptxas" ||
               w.name == "--maxrregcount" || w.name == "-maxrregcount") {
      value();
    } else if (!is_ignored(w.name)) {
      return false;
    }
  }
  error->clear();
  options->arguments.push_back(contract ? "-ffp-contract=fast"
                                        : "-ffp-contract=off");
  return true;
}

}  // namespace fake_nvrtc
