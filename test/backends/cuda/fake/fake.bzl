"""For tests that run on the fake driver and compiler of this folder."""

_HERE = "test/backends/cuda/fake"

# Their data and env. The library of the backend is in the runfiles of //:sdk.
FAKE_CUDA = [
    "//" + _HERE + ":libfake_cuda.so",
    "//" + _HERE + ":libfake_nvrtc.so",
    "//" + _HERE + ":on_host",
]

FAKE_CUDA_ENV = {
    "FAKE_CUDA_INCLUDE": _HERE,
    # The tests of this folder look for races; these are not tried with it yet.
    "FAKE_CUDA_RACES": "0",
    "SWITCHYARD_CUDA_DRIVER": _HERE + "/libfake_cuda.so",
    "SWITCHYARD_NVRTC": _HERE + "/libfake_nvrtc.so",
    "SWITCHYARD_PLUGINS": ".",
}

# The options of programs that compile kernels of their own. They depend on
# :emulator, or include on_host/checked.h as runtime_kernels.cpp does.
CHECKED_KERNEL_COPTS = [
    "-DSY_CUDA_ON_HOST",
    "-mfma",
    "-fno-sanitize=address",
    "-fsanitize=thread",
    "--param=tsan-distinguish-volatile=1",
    "--param=tsan-instrument-func-entry-exit=0",
]

# The environment of programs that do not test the backend itself: their kernels
# are interpreted.
FAKE_CUDA_PROGRAM_ENV = dict(
    FAKE_CUDA_ENV,
    SWITCHYARD_CUDA_CACHE = "",
    SWITCHYARD_CUDA_JIT = "off",
)
