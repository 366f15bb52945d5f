"""`./sy test --cuda` and `./sy bench --cuda` without a GPU: what is run,
skipped and counted, in a folder whose programs are stand-ins."""

import contextlib
import io
import os
import tempfile
import unittest
from unittest import mock

import bench_cuda
import test_cuda

SY = """#!/bin/sh
if [ "$1" != doctor ]; then
  while [ $# -gt 0 ]; do [ "$1" != --json ] || echo '%s' >"$2"; shift; done
  echo "cases: 3 passed, 0 failed"
  exit %d
fi
echo '{"loads": true, "notes": [%s]}'
"""
GPU = '"driver: libcuda.so.1, for CUDA 13.0", "cuda:0: A GPU, sm_90"'
NONE = '"driver: [cuda] there is no driver: not found"'


class Folder:
    """A folder like those of cuda_bundle.sh."""

    def __init__(self, notes=GPU, conform=0, on_cpu="{}"):
        self.root = tempfile.TemporaryDirectory()
        said = '{"overloads": %s}' % on_cpu
        self.script("bin/sy", SY % (said, conform, notes))
        for name, _ in test_cuda.DEMOS:
            self.script(f"bin/{name}", "#!/bin/sh\necho trained\n")
        self.script("tests/good_test", "#!/bin/sh\necho 2 tests\n")
        self.script("tests/fake_test", "#!/bin/sh\nexit 1\n")
        self.script("tests/need_fake.txt", "fake_test\n")
        self.script("test/backends/cuda/fallbacks.txt", "# known\ngeqrf 31\n")

    def script(self, name, text):
        path = os.path.join(self.root.name, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)

    def test(self, *arguments):
        """(exit code, what is printed)."""
        said = io.StringIO()
        words = ["test_cuda", "--built", self.root.name, *arguments]
        with mock.patch("sys.argv", words), \
                contextlib.redirect_stdout(said):
            code = test_cuda.main()
        return code, said.getvalue().splitlines()


class TestCuda(unittest.TestCase):

    def folder(self, *arguments, **options):
        folder = Folder(*arguments, **options)
        self.addCleanup(folder.root.cleanup)
        return folder

    def test_without_a_gpu_all_is_skipped(self):
        code, lines = self.folder(NONE).test()
        self.assertEqual(code, 0)
        self.assertEqual(lines, [
            "no GPU here: [cuda] there is no driver: not found",
            "SKIPPED all tests that need a GPU",
            "0 passed, 0 failed, 1 skipped"])

    def test_counts_what_ran_and_names_what_did_not(self):
        code, lines = self.folder().test("--parts", "programs,demos,conform")
        self.assertEqual(code, 0)
        self.assertEqual(lines[1], "cuda:0: A GPU, sm_90")
        self.assertEqual(lines[-1], "7 passed, 0 failed, 1 skipped")
        skipped = [l for l in lines if l.startswith("SKIPPED fake_test: ")]
        self.assertEqual(len(skipped), 1)

    def test_a_failure_fails(self):
        folder = self.folder(conform=1)
        folder.script("tests/bad_test", "#!/bin/sh\necho why; exit 1\n")
        code, lines = folder.test("--parts", "programs,conform")
        self.assertEqual(code, 1)
        self.assertIn("why", lines)
        self.assertIn("FAILED bad_test", lines)
        self.assertEqual(lines[-1], "1 passed, 4 failed, 1 skipped")

    def test_what_takes_too_long_fails(self):
        folder = self.folder()
        folder.script("tests/slow_test", "#!/bin/sh\nexec sleep 60\n")
        with mock.patch.object(test_cuda, "TEST_S", 1):
            _, lines = folder.test("--parts", "programs")
        self.assertIn("FAILED slow_test", lines)
        self.assertEqual(lines[-1], "1 passed, 1 failed, 1 skipped")

    def test_without_test_programs_it_fails(self):
        folder = self.folder()
        os.remove(os.path.join(folder.root.name, "tests", "good_test"))
        with self.assertRaisesRegex(SystemExit, "there are no test programs"):
            folder.test("--parts", "programs")

    def test_a_pattern_that_names_nothing_fails(self):
        folder = self.folder()
        logs = os.path.join(folder.root.name, "logs")
        self.assertEqual(folder.test("--parts", "demos", "--logs", logs)[0], 0)
        for more in ([], ["--logs", logs, "--resume"]):
            with self.assertRaises(SystemExit) as end, \
                    contextlib.redirect_stderr(io.StringIO()):
                folder.test("--parts", "demos", "--only", "nothing", *more)
            self.assertEqual(end.exception.code, 2)

    def test_calls_that_the_cpu_should_not_compute_fail(self):
        ways = '{"%s": {"ways": {"cpu": 2}}}'
        code, lines = self.folder(on_cpu=ways % "geqrf").test(
            "--parts", "conform")
        self.assertEqual((code, lines[-1]), (0, "3 passed, 0 failed, 0 skipped"))
        code, lines = self.folder(on_cpu=ways % "add.Tensor").test(
            "--parts", "conform")
        self.assertEqual((code, lines[-1]), (1, "0 passed, 3 failed, 0 skipped"))
        self.assertIn("add.Tensor: 2 calls ran on the CPU, and fallbacks.txt "
                      "does not have it", lines)

    def test_sorts_run_with_cub_and_without(self):
        folder = self.folder()
        folder.script("lib/libswitchyard_cuda_cub.so", "")
        folder.script("tests/sort_test",
                      "#!/bin/sh\necho cub ${SWITCHYARD_CUDA_CUB##*/}\n")
        _, lines = folder.test("--parts", "programs", "--only", "sort")
        said = [line.split(": ")[-1] for line in lines
                if line.startswith("PASSED")]
        self.assertEqual(said, ["cub libswitchyard_cuda_cub.so", "cub off"])

    def test_a_sanitizer_that_cannot_watch_is_skipped(self):
        folder = self.folder()
        tool = "#!/bin/sh\necho Device not supported; exit 1\n"
        folder.script("path/compute-sanitizer", tool)
        path = os.path.join(folder.root.name, "path")
        with mock.patch.dict(os.environ,
                             {"PATH": path + ":" + os.environ["PATH"]}):
            code, lines = folder.test("--parts", "sanitizer")
        self.assertEqual(code, 0)
        self.assertEqual(lines[-1], "0 passed, 0 failed, 4 skipped")
        self.assertIn("SKIPPED memcheck, cases: Device not supported", lines)


class GoalsTest(unittest.TestCase):

    def side(self, *rounds, name="ours"):
        side = bench_cuda.Side(name, [])
        side.rounds = [bench_cuda.read(text) for text in rounds]
        return side

    def goal(self, name, text, **peers):
        return bench_cuda.goal_of(name, self.side(text), peers)[1]

    def test_a_share_is_of_the_copy_in_its_own_round(self):
        side = self.side("copy\t10\t100\nadd_f32\t10\t50\n",
                         "copy\t20\t100\nadd_f32\t20\t50\n",
                         "copy\t10\t100\nadd_f32\t100\t50\n")
        self.assertEqual(side.share("add_f32"), 50)
        self.assertIsNone(side.share("copy"))

    def test_shares(self):
        copy = "copy\t100\t100\n"
        self.assertTrue(self.goal("mul_f32", copy + "mul_f32\t108\t100"))
        self.assertFalse(self.goal("mul_f32", copy + "mul_f32\t110\t100"))
        self.assertTrue(self.goal("add_transposed_f32",
                                  copy + "add_transposed_f32\t120\t100"))

    def test_submitting_is_held_to_the_bare_launch_and_to_torch(self):
        text = "bare_launch\t2000\t0\nsubmit_add\t%d\t0"
        self.assertTrue(self.goal("submit_add", text % 2300))
        self.assertFalse(self.goal("submit_add", text % 2400))
        torch = self.side("submit_add\t4000", name="torch")
        self.assertFalse(self.goal("submit_add", text % 2300, torch=torch))

    def test_order_is_held_to_cub(self):
        cub = self.side("sort_f32\t98", name="cub")
        self.assertTrue(self.goal("sort_f32", "sort_f32\t100\t0", cub=cub))
        self.assertFalse(self.goal("sort_f32", "sort_f32\t101\t0", cub=cub))
        self.assertIsNone(self.goal("sort_f32", "sort_f32\t100\t0"))

    def test_a_side_that_fails_keeps_what_it_measured(self):
        side = bench_cuda.Side("ours", [
            (["sh", "-c", "printf 'a\\t1\\t0\\n'; exit 3", "sh"], os.environ),
            (["printf", "b\\t2\\t0\\n"], os.environ)])
        side.run(False)
        side.run(False)
        self.assertEqual(side.ns("a"), 1)
        self.assertEqual([len(r) for r in side.rounds], [2, 1])
        self.assertEqual(len(side.failures), 1)


if __name__ == "__main__":
    unittest.main()
