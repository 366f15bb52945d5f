"""Tests that tools/setup.sh unpacks wheels, and refuses other bytes. The wheels
are made here: nothing is downloaded."""

import glob
import hashlib
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest
import zipfile

TOOLS = "tools"
NVCC, NVDISASM = "nvidia-cuda-nvcc", "nvidia-cuda-nvdisasm"
HAVE_PIP = subprocess.run(["python3", "-m", "pip", "--version"], check=False,
                          capture_output=True).returncode == 0
# The machine's own nvdisasm would be found first.
HAVE_NVDISASM = shutil.which("nvdisasm") or os.path.exists(
    "/usr/local/cuda/bin/nvdisasm")


def make_wheel(folder, name, version, files):
    """Returns its SHA-256. Only their owner may run programs, as in NVIDIA's."""
    stem = f"{name.replace('-', '_')}-{version}"
    path = os.path.join(folder, stem + "-py3-none-any.whl")
    info = stem + ".dist-info/"
    files = {**files, info + "METADATA": f"Metadata-Version: 2.1\nName: {name}"
                                         f"\nVersion: {version}\n",
             info + "WHEEL": "Wheel-Version: 1.0\nGenerator: x\n"
                             "Root-Is-Purelib: true\nTag: py3-none-any\n",
             info + "RECORD": ""}
    with zipfile.ZipFile(path, "w") as wheel:
        for file, text in files.items():
            entry = zipfile.ZipInfo(file)
            mode = 0o744 if "/bin/" in file else 0o644
            entry.external_attr = (stat.S_IFREG | mode) << 16
            wheel.writestr(entry, text)
    with open(path, "rb") as wheel:
        return hashlib.sha256(wheel.read()).hexdigest()


@unittest.skipUnless(HAVE_PIP, "python3 has no pip")
class SetupTest(unittest.TestCase):

    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.root = held.name
        for folder in ("tools", "third_party", "wheels", "onednn/lib",
                       "onednn/include/oneapi/dnnl"):
            os.makedirs(self.path(folder))
        for name in ("setup.sh", "libraries.sh"):
            shutil.copy(os.path.join(TOOLS, name), self.path("tools"))
        self.write("onednn/lib/libdnnl.so.3", "")
        self.write("onednn/include/oneapi/dnnl/dnnl.hpp", "")
        self.hashes = {
            NVCC: make_wheel(self.path("wheels"), NVCC, "13.0.1", {
                "nvidia/cu13/bin/nvcc": "#!/bin/sh\necho I compile\n",
                "nvidia/cu13/lib/libcudart.so.13": "a library"}),
            NVDISASM: make_wheel(self.path("wheels"), NVDISASM, "13.5.2", {
                "nvidia/cu13/bin/nvdisasm": "#!/bin/sh\necho I read\n"})}
        self.pin()

    def path(self, *parts):
        return os.path.join(self.root, *parts)

    def cache(self, *parts):
        return self.path("cache", "switchyard", *parts)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def pin(self, **other):
        lines = [f"toolkit: {name}=={version} --hash=sha256:{'0' * 64} "
                 f"--hash=sha256:{other.get(tag, self.hashes[name])}\n"
                 for name, version, tag in ((NVCC, "13.0.1", "nvcc"),
                                            (NVDISASM, "13.5.2", "nvdisasm"))]
        self.write("third_party/libraries.txt",
                   "name: CUDA\npackages: bash\n" + "".join(lines))

    def setup(self, *options, **variables):
        env = {"PATH": os.environ["PATH"], "HOME": self.root,
               "XDG_CACHE_HOME": self.path("cache"),
               "SY_ONEDNN_DIR": self.path("onednn"), "PIP_NO_INDEX": "1",
               "PIP_FIND_LINKS": self.path("wheels"),
               "PIP_CONFIG_FILE": os.devnull, **variables}
        run = subprocess.run([self.path("tools", "setup.sh"), *options],
                             env=env, text=True, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, check=False)
        return run.returncode, run.stdout

    def toolkit(self):
        """A folder for CUDA_HOME with nvcc alone."""
        os.makedirs(self.path("home", "bin"))
        self.write("home/bin/nvcc", "")
        os.chmod(self.path("home", "bin", "nvcc"), 0o755)
        return self.path("home")

    def test_without_options_nothing_is_missing(self):
        self.assertEqual(self.setup(), (0, ""))
        self.assertFalse(os.path.exists(self.cache()))

    def test_the_toolkit_is_unpacked_into_one_folder(self):
        code, said = self.setup("--cuda")
        self.assertEqual(code, 0, said)
        folder = self.cache("cuda-13.0.1")
        self.assertIn(folder, said)
        for program, words in (("nvcc", "I compile\n"), ("nvdisasm", "I read\n")):
            path = os.path.join(folder, "bin", program)
            self.assertEqual(subprocess.check_output([path], text=True), words)
            self.assertEqual(os.stat(path).st_mode & 0o777, 0o755)
        for library in ("lib64/libcudart.so.13", "lib/libcudart.so"):
            self.assertTrue(os.path.exists(os.path.join(folder, library)))
        self.assertEqual(os.listdir(self.cache()), ["cuda-13.0.1"])

    def test_a_second_run_is_silent_and_needs_no_wheel(self):
        self.setup("--cuda")
        shutil.rmtree(self.path("wheels"))
        self.assertEqual(self.setup("--cuda"), (0, ""))

    def test_other_bytes_are_refused(self):
        self.pin(nvdisasm="1" * 64)
        code, said = self.setup("--cuda")
        self.assertEqual(code, 1, said)
        self.assertIn("DO NOT MATCH THE HASHES", said)
        self.assertIn("setup: pip could not download NVIDIA's wheels", said)
        self.assertEqual(os.listdir(self.cache()), [])

    @unittest.skipIf(HAVE_NVDISASM, "this machine has an nvdisasm")
    def test_tests_get_nvdisasm_where_there_is_an_nvcc(self):
        home = self.toolkit()
        code, said = self.setup("--tests", CUDA_HOME=home)
        self.assertEqual(code, 0, said)
        program = self.cache("nvdisasm-13.5.2", "nvdisasm")
        self.assertEqual(subprocess.check_output([program], text=True),
                         "I read\n")
        self.assertEqual(self.setup("--tests", CUDA_HOME=home), (0, ""))

    def test_the_toolkits_own_nvdisasm_is_enough(self):
        home = self.toolkit()
        shutil.copy(os.path.join(home, "bin", "nvcc"),
                    os.path.join(home, "bin", "nvdisasm"))
        self.assertEqual(self.setup("--tests", CUDA_HOME=home), (0, ""))

    @unittest.skipIf(HAVE_NVDISASM, "this machine has an nvdisasm")
    def test_without_nvdisasm_setup_goes_on(self):
        self.pin(nvdisasm="1" * 64)
        code, said = self.setup("--tests", CUDA_HOME=self.toolkit())
        self.assertEqual(code, 0, said)
        self.assertIn("no nvdisasm (5 MB): its tests will be skipped", said)
        self.assertEqual(glob.glob(self.cache("*")), [])

    def test_unknown_options_are_refused(self):
        code, said = self.setup("--cude")
        self.assertEqual(code, 1)
        self.assertIn("no option '--cude'", said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
