// libswitchyard_jit.so stays mapped, and its thread may compile while a process
// ends. LLVM makes static objects as it goes, which would be taken down first,
// under the thread. So no destructor of this library is registered: all
// registrations in it come here, as the linker finds this function before the C
// library's.
extern "C" __attribute__((visibility("hidden"))) int __cxa_atexit(
    void (* /*destructor*/)(void*), void* /*object*/, void* /*library*/) {
  return 0;
}
