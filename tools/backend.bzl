"""sy_backend(): the library of a backend that backend.yaml describes."""

load("//tools:cc.bzl", "sy_cc_library")
load("//tools:sygen.bzl", "sygen_files")

def sy_backend(
        name,
        srcs = [],
        hdrs = [],
        deps = [],
        per_family = False,
        visibility = None,
        testonly = False,
        **kwargs):
    """The library NAME of the backend that lies in this package.

    Beside the sources it has backend_gen.h and backend_gen.cpp, which are
    generated of backend.yaml: declarations of the kernels that it lists, and
    their registrations with those of its devices and engines. The kernels that
    engines make for families, and those named under `dispatch:`, are there as
    well, or with per_family in a file for each family, which //schemas has for
    the folders of backends/.
    """
    description = "backend.yaml"
    generated = ["backend_gen.cpp", "backend_gen.h"]
    native.exports_files([description])
    sygen_files(
        name = name + "_files",
        outs = generated,
        args = [
            "emit",
            "--kind",
            "backend",
            "--backend",
            "$(location %s)" % description,
        ] + (["--per-family"] if per_family else []),
        deps_srcs = ["//schemas:operators", description],
        testonly = testonly,
    )
    if per_family:
        srcs = srcs + ["//schemas:backend_%s_srcs" % name]
        deps = deps + ["//schemas:backend_%s_headers" % name]
    sy_cc_library(
        name = name,
        srcs = srcs + ["backend_gen.cpp"],
        hdrs = hdrs + ["backend_gen.h"],
        alwayslink = True,
        deps = deps + [
            "//aten",
            "//aten/program",
            "//c10",
            "//c10:macros",
            "//c10/schema",
            "//schemas:headers",
        ],
        visibility = visibility,
        testonly = testonly,
        **kwargs
    )
