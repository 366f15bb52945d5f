#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "c10/dispatch/dispatcher.h"

// The dtypes in which operators run on a device.

namespace sy::tools {

struct DtypesOptions {
  std::vector<std::string> plugins;
  std::string device;  // "" for that of the plugin
  std::string glob;    // "" for all operators
  bool json = false;
  int jobs = 0;  // worker processes; 0: one per core
  int part = 0;  // of a worker: every jobs-th operator from this one on
};

// How the example of an operator runs on a device, by dtype: "native",
// "composed" or "cpu". Dtypes that it does not take are left out; those of
// arguments that ask for one, indices say, stay as they are. Throws Error if
// the example itself fails.
std::map<std::string, std::string> dtypes_of(OperatorHandle op,
                                             const std::string& words,
                                             Device device);

// The same by way, in the order "native", "composed", "cpu": the dtypes of each
// as "float64,float32", in the order of dtypes.yaml.
std::vector<std::pair<std::string, std::string>> by_way(
    const std::map<std::string, std::string>& ways);

// A line for each functional operator that has an example, or whose signature
// says enough: NAME DEVICE native:float64,float32 cpu:int64
int run_dtypes(const DtypesOptions& options);
// Runs as a worker of it: a line of JSON for each goes to
// WorkerProcess::kAnswers.
int run_dtypes_worker(const DtypesOptions& options);

}  // namespace sy::tools
