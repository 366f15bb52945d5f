#pragma once

#include <sy/sy.h>

// The promises of a backend with streams, tried on one of its devices.

namespace host {

// The current stream does nothing for a while; the host goes on.
void sleep_on(const sy::Tensor& t);
// The same tensor, and an error of the stream if an element is no number.
sy::Tensor check_finite(const sy::Tensor& t);

void streams_order_work(sy::Device device);
void events_order_streams(sy::Device device);
void errors_arrive_at_synchronize(sy::Device device);
void memory_outlives_its_kernels(sy::Device device);
void two_devices_of_one_backend(const sy::Tensor& on_first, sy::Device second);
void the_rest_of_a_device(sy::Device device);

}  // namespace host
