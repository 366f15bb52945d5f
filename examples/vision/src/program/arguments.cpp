#include "program/arguments.h"

#include <sy/library.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace vision {
namespace {

constexpr std::string_view kCommon =
    " [--device NAME] [--plugin LIBRARY] [--save FILE]";

[[noreturn]] void end_with(const std::string& usage, const std::string& why) {
  std::fprintf(stderr, "%s\nusage: %s\n", why.c_str(), usage.c_str());
  std::exit(2);
}

size_t count_words(std::string_view usage) {
  size_t n = 0;
  for (size_t i = 1; i + 1 < usage.size() && usage[i + 1] != '['; ++i) {
    n += usage[i] == ' ' ? 1 : 0;
  }
  return n;
}

// The device after its library is loaded: `plugin`, or the one of that name.
sy::Device loaded_device(const std::string& name, std::string plugin) try {
  const std::string kind = name.substr(0, name.find(':'));
  if (plugin.empty() && kind != "cpu" && kind != "meta") plugin = kind;
  if (!plugin.empty()) sy::load_library(plugin).keep();
  return sy::Device(name);
} catch (sy::Error& e) {
  e.add_prefix("[--device " + name + "] ");
  throw;
}

}  // namespace

Arguments::Arguments(int argc, char** argv, std::string_view usage)
    : usage_(std::string(usage) + std::string(kCommon)) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (!word.starts_with("--")) {
      words_.push_back(word);
      continue;
    }
    if (usage_.find("[" + word + " ") == usage_.npos) {
      end_with(usage_, "no option " + word);
    }
    if (i + 1 == argc) end_with(usage_, word + ": expected a value");
    options_[word.substr(2)] = argv[++i];
  }
  if (words_.size() != count_words(usage)) {
    end_with(usage_, "expected " + std::to_string(count_words(usage)) +
                         " arguments, got " + std::to_string(words_.size()));
  }
  device_ = loaded_device(option("device", "cpu"), option("plugin", ""));
}

std::string Arguments::option(const std::string& name,
                              std::string otherwise) const {
  const auto found = options_.find(name);
  return found == options_.end() ? otherwise : found->second;
}

int64_t Arguments::number(const std::string& name, int64_t otherwise) const {
  const double n = parsed(name, static_cast<double>(otherwise));
  if (n != std::floor(n) || n < 1 || n > 1e9) {
    end_with(usage_, "--" + name + ": expected a whole number over 0");
  }
  return static_cast<int64_t>(n);
}

double Arguments::real(const std::string& name, double otherwise) const {
  return parsed(name, otherwise);
}

double Arguments::parsed(const std::string& name, double otherwise) const {
  const std::string text = option(name, "");
  if (text.empty()) return otherwise;
  char* end = nullptr;
  const double n = std::strtod(text.c_str(), &end);
  if (*end != '\0') {
    end_with(usage_, "--" + name + ": expected a number, got " + text);
  }
  return n;
}

Labels::Labels(const std::string& path) {
  if (path.empty()) return;
  std::ifstream file(path);
  SY_CHECK(file.good(), Value, "[{}] expected a file that can be read", path);
  for (std::string line; std::getline(file, line);) words_.push_back(line);
}

std::string Labels::operator[](int64_t label) const {
  return label >= 0 && label < static_cast<int64_t>(words_.size())
             ? words_[static_cast<size_t>(label)]
             : std::to_string(label);
}

void save(const Arguments& arguments, const sy::NamedTensors& results) {
  const std::string path = arguments.option("save", "");
  if (!path.empty()) sy::save_safetensors(path, results);
}

void tell_fallbacks(sy::Device device) {
  if (device == sy::Device(sy::kCPU)) return;
  int64_t calls = 0;
  for (const sy::FallbackCount& f : sy::fallback_counts()) calls += f.calls;
  std::fprintf(stderr, "%lld calls ran on the CPU for want of a kernel\n",
               static_cast<long long>(calls));
}

}  // namespace vision
