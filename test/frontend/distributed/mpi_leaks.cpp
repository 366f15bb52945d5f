// For AddressSanitizer. Open MPI does not free all that it takes, and some of
// that belongs to libraries that it has closed: nothing tells it from leaks of
// ours.
extern "C" __attribute__((visibility("default"))) const char*
__asan_default_options();
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }
