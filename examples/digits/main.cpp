#include <sy/sy.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>

#include "examples/digits/console.h"
#include "examples/digits/data.h"
#include "examples/digits/device.h"
#include "examples/digits/lazy.h"
#include "examples/digits/plot.h"
#include "examples/digits/train.h"

// Trains a classifier of handwritten digits, and draws what came of it.

namespace digits {
namespace {

struct Arguments {
  Options options;
  int seeds = 1;
  bool brief = false;
  std::string data = "examples/digits/data/digits.csv";
  std::string out;
  std::string device;
  std::string plugin;
  bool train = false;
  std::string graph;
};

template <class... A>
std::string format(const char* pattern, A... args) {
  char buffer[300];
  std::snprintf(buffer, sizeof buffer, pattern, args...);
  return buffer;
}

Run train_one(const Dataset& all, const Options& options,
              const Watcher& watcher, Console& console) {
  const auto start = std::chrono::steady_clock::now();
  Run run = train(all, options, watcher);
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - start;
  console.line(format("  seed %llu: test accuracy ",
                      static_cast<unsigned long long>(options.seed)) +
               console.bold(format("%.2f %%", 100 * run.test_accuracy())) +
               format(", loss %.4f, %.0f us a step, %.2f s in all",
                      run.epochs.back().loss, run.step_us, took.count()));
  return run;
}

std::vector<Run> train_all(const Arguments& a, const Dataset& all,
                           Console& console) {
  std::vector<Run> runs;
  for (int i = 0; i < a.seeds; ++i) {
    Options options = a.options;
    options.seed += static_cast<uint64_t>(i);
    runs.push_back(train_one(all, options,
                             i == 0 && !a.brief
                                 ? console.watch(options)
                                 : console.watch_briefly(options),
                             console));
  }
  return runs;
}

void report_mean(const std::vector<Run>& runs, Console& console) {
  if (runs.size() < 2) return;
  double mean = 0;
  for (const Run& r : runs) mean += r.test_accuracy() / double(runs.size());
  console.line(format("  mean of %zu seeds: ", runs.size()) +
               console.bold(format("%.2f %%", 100 * mean)));
}

bool report_device(const Run& run, sy::Device device, Console& console) {
  const Comparison c = compare(run.model, run.data.test.images, device);
  const bool agree = c.difference < 1e-4 && c.equal == c.predictions;
  console.line(format("  %lld of %lld predictions equal those of the CPU; log "
                      "probabilities differ by at most %.2g: ",
                      static_cast<long long>(c.equal),
                      static_cast<long long>(c.predictions), c.difference) +
               console.bold(agree ? "the answers agree" : "THEY DISAGREE"));
  console.line("  " + fallback_report(c));
  return agree;
}

// Trains there with one seed. The losses agree but for what rounding does to
// them over many steps.
bool report_training(const Run& here, const Dataset& all, sy::Device device,
                     const Arguments& a, Console& console) {
  Watcher watcher = console.watch_briefly(here.options);
  StepGraph graph;
  if (device.is_lazy()) watcher.on_step = [&graph] { graph.sync(); };
  const Run there = train_one(all.to(device), here.options, watcher, console);
  double difference = 0;
  for (size_t i = 0; i < here.epochs.size(); ++i) {
    difference = std::max(difference,
                          std::abs(here.epochs[i].loss - there.epochs[i].loss));
  }
  const bool agree = difference < 1e-3;
  console.line(
      format("  losses of %zu epochs differ from the CPU's by at most %.2g: ",
             here.epochs.size(), difference) +
      console.bold(agree ? "the training agrees" : "IT DISAGREES"));
  if (device.is_lazy()) {
    for (const std::string& line : lazy_report()) console.line("  " + line);
    if (!a.graph.empty()) {
      graph.write(a.graph);
      console.line("  the graph of a step: " + console.bold(a.graph));
    }
  }
  return agree;
}

int run(const Arguments& a) {
  Console console;
  sy::LibraryHandle plugin;
  if (!a.plugin.empty()) plugin = sy::load_library(a.plugin);
  const sy::Device device =
      a.device.empty() ? sy::Device() : sy::Device(a.device);
  if (a.plugin.empty() && (device.is_lazy() || device.is_cuda())) {
    plugin = sy::load_library(sy::backend_device_name(device.type()));
  }

  const Dataset all = read_csv(a.data);
  console.heading(format("Training on %lld images of handwritten digits",
                         static_cast<long long>(all.size())));
  const std::vector<Run> runs = train_all(a, all, console);
  report_mean(runs, console);
  if (!a.out.empty()) {
    plot(runs, a.out);
    console.line("  picture: " + console.bold(a.out));
  }
  if (device.is_cpu()) return 0;
  if (a.train) {
    console.heading("The same training on " + device.str());
    return report_training(runs[0], all, device, a, console) ? 0 : 1;
  }
  console.heading("The same model on " + device.str());
  return report_device(runs[0], device, console) ? 0 : 1;
}

}  // namespace
}  // namespace digits

int main(int argc, char** argv) {
  digits::Arguments a;
  CLI::App app("Trains a classifier of handwritten digits.");
  app.add_option("--epochs", a.options.epochs, "passes over the training part")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--seed", a.options.seed, "of the first run")
      ->capture_default_str();
  app.add_option("--seeds", a.seeds, "runs, with one seed after the other")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_flag("--brief", a.brief, "do not print each epoch");
  app.add_option("--data", a.data, "the images")
      ->check(CLI::ExistingFile)
      ->capture_default_str();
  app.add_option("--out", a.out, "write a picture (SVG) there");
  app.add_option("--device", a.device,
                 "then run the model there and compare with the CPU");
  app.add_option(
      "--plugin", a.plugin,
      "a library to load first; by default that of lazy and of cuda");
  app.add_flag("--train", a.train, "train on the device, too, not only run");
  app.add_option("--graph", a.graph,
                 "write the graph of a step on device lazy there (graphviz)");
  CLI11_PARSE(app, argc, argv);
  try {
    return digits::run(a);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "digits: %s\n", e.what());
    return 2;
  }
}
