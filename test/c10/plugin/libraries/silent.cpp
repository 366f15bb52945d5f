// A shared object that has nothing to do with us.
extern "C" __attribute__((visibility("default"))) int nothing() { return 0; }
