"""The tests of families, each on every device of the tree.

The program of activation_test.cpp is activation_test, which runs on the CPU;
activation_lazy_test and activation_cuda_test are the same program, run on other
devices.
"""

load("//test/backends/cuda/fake:fake.bzl", "FAKE_CUDA", "FAKE_CUDA_PROGRAM_ENV")
load("//tools:cc.bzl", "sy_cc_test")

# A backend has a row here, and says in skips_<device>.txt where it differs.
_DEVICES = {
    "cuda": struct(
        data = FAKE_CUDA,
        env = FAKE_CUDA_PROGRAM_ENV,
        # For AddressSanitizer a program must say more: ../cuda/environment.cpp.
        tags = ["no_asan"],
    ),
    "lazy": struct(
        data = [],
        env = {"SY_TEST_GENERATOR": "cpu"},
        tags = [],
    ),
}

_ENV = {
    "SWITCHYARD_LAPACK": "./libswitchyard_lapack.so",
    "SWITCHYARD_ONEDNN": "./libswitchyard_onednn.so",
    "SWITCHYARD_PLUGINS": ".",
}

def family_tests(cpu_only = []):
    """Tests of the *_test.cpp of the package, but of those of `cpu_only`."""
    for source in native.glob(["*_test.cpp"], exclude = cpu_only):
        program = source[:-len(".cpp")]
        sy_cc_test(
            name = program,
            srcs = [source],
            env = _ENV,
            deps = [":device"],
        )
        for device, row in _DEVICES.items():
            native.sh_test(
                name = "%s_%s_test" % (program[:-len("_test")], device),
                size = "medium",
                srcs = ["on_device.sh"],
                args = ["$(rootpath :%s)" % program],
                data = row.data + [
                    ":" + program,
                    "skips_%s.txt" % device,
                ],
                env = dict(_ENV, SY_TEST_DEVICE = device, **row.env),
                tags = row.tags,
            )
