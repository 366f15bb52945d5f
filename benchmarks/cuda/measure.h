#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sy/sy.h"

// The functions that the parts of cuda_bench share. All of it is for one thread
// and device cuda:0.

namespace bench {

struct Options {
  bool smoke = false;  // sizes so small that an emulated device is done at once
};

using Clock = std::chrono::steady_clock;

inline double since(Clock::time_point begin) {
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

// The middle value; of no values, 0.
double median(std::vector<double> values);

// Prints "NAME <tab> NANOSECONDS <tab> BYTES": bytes that the work has to read
// and write at least, 0 where that says nothing.
void report(const std::string& name, double nanoseconds, double bytes = 0);

sy::Device device();
// Waits for all that was submitted.
void wait();

// Nanoseconds that the host takes for a call of `f`, which submits work: the
// median of batches; the device is idle when a batch begins.
double host_time(const Options& o, const std::function<void()>& f);

// Nanoseconds that the device takes for the work that `f` submits, by events
// in the stream: the median of several turns.
double device_time(const Options& o, const std::function<void()>& f);

// ---- the parts

void run_host(const Options& o);          // host.cpp
void run_first(const Options& o);         // first.cpp
void run_device(const Options& o);        // device.cpp
void run_steps(const Options& o);         // steps.cpp
void run_products(const Options& o);      // products.cpp
void run_convolutions(const Options& o);  // convolutions.cpp

}  // namespace bench
