#!/usr/bin/env python3
"""`neutra doctor` of an installation names each part that is broken on purpose.

usage: doctor_test.py BUILD. Installs BUILD into a temporary folder. A library that the command itself is linked with
(oneDNN, HDF5) can't be tested: the system starts no command that lacks one."""
import gzip
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop()).resolve()
IMAGES = ["train-images-idx3-ubyte.gz", "t10k-images-idx3-ubyte.gz"]
LABELS = ["train-labels-idx1-ubyte.gz", "t10k-labels-idx1-ubyte.gz"]


def write_images(folder):
    """Small files of the form of Fashion-MNIST's."""
    folder.mkdir(parents=True)
    rows = 20
    for name in IMAGES:
        pixels = bytes(range(256)) * (rows * 28 * 28 // 256) + bytes(rows * 28 * 28 % 256)
        (folder / name).write_bytes(gzip.compress(struct.pack(">4i", 0x803, rows, 28, 28) + pixels))
    for name in LABELS:
        (folder / name).write_bytes(gzip.compress(struct.pack(">2i", 0x801, rows) + bytes(rows)))


class Changed:
    """A file of the installation with other bytes, or none, as long as it is entered."""

    def __init__(self, file, change):
        self.file, self.change = file, change

    def __enter__(self):
        self.before = self.file.read_bytes()
        self.mode = self.file.stat().st_mode
        after = self.change(self.before)
        self.file.unlink()
        if after is not None:
            self.file.write_bytes(after)
        return self.file

    def __exit__(self, *_):
        self.file.write_bytes(self.before)
        self.file.chmod(self.mode)


def gone(_):
    return None


def half(content):
    return content[:len(content) // 2]


class Doctor(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.prefix = cls.folder / "prefix"
        install = ["cmake", "--install", BUILD, "--prefix", cls.prefix]
        installed = subprocess.run(install, capture_output=True, text=True, check=False)
        if installed.returncode != 0:
            raise RuntimeError(installed.stdout + installed.stderr)
        cls.share = cls.prefix / "share/neutra"
        cls.data = cls.folder / "data"
        write_images(cls.data / "fashion-mnist")
        (cls.folder / "home").mkdir()

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def doctor(self, folder=None, before=(), **environment):
        """Exit code, and checks by name."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("NEUTRA_", "KERAS_"))}
        kept.update({"HOME": str(self.folder / "home"), "NEUTRA_DATA_DIR": str(self.data), **environment})
        ran = subprocess.run([*before, self.prefix / "bin/neutra", "doctor", "--format", "json"], capture_output=True,
                             text=True, check=False, cwd=folder or self.folder, env=kept)
        self.assertIn(ran.returncode, (0, 1), ran.stderr)
        return ran.returncode, {check["name"]: check for check in json.loads(ran.stdout)["checks"]}

    def assert_named(self, found, name, state, *words):
        """There is a check of that name with that state; its line has the words and says what to do."""
        code, checks = found
        self.assertIn(name, checks)
        check = checks[name]
        self.assertEqual(check["state"], state, check)
        self.assertEqual(check["ok"], state in ("ok", "note"), check)
        for word in words:
            self.assertIn(str(word), check["detail"])
        self.assertNotEqual(check["hint"], "", check)
        self.assertEqual(code, state == "broken", checks)

    def module(self, name):
        found = [*self.prefix.glob(f"lib*/neutra/{name}"), *self.prefix.glob(f"lib/*/neutra/{name}")]
        self.assertEqual(len(found), 1, found)
        return found[0]

    def test_a_whole_installation(self):
        code, checks = self.doctor()
        self.assertEqual(code, 0, checks)
        for name in ("command", "clock", "onednn", "hdf5", "modules", "torch", "bundled files", "subjects", "faults",
                     "bundled data", "data folder", "data fashion-mnist", "documentation", "schemas", "manual pages",
                     "completion of bash", "completion of zsh", "completion of fish", "temporary folder"):
            self.assertEqual(checks[name]["state"], "ok", checks[name])
        for name in ("processor", "cores", "memory", "blas", "mpi", "dot", "rsvg-convert", "sbatch", "python", "store"):
            self.assertIn(name, checks)
        self.assertIn("as they were installed", checks["bundled files"]["detail"])
        self.assertEqual([check for check in checks.values() if check["state"] == "broken"], [])

    def test_installed_without_documentation(self):
        folder = self.share.parent / "doc"
        folder.rename(self.folder / "doc")
        try:
            self.assert_named(self.doctor(), "documentation", "note", folder)
        finally:
            (self.folder / "doc").rename(folder)

    def test_no_module_for_torch(self):
        file = self.module("neutra_torch.so")
        with Changed(file, gone):
            found = self.doctor()
            self.assertEqual(found[1]["torch"]["state"], "missing", found)
            self.assert_named(found, "bundled files", "broken", "neutra_torch.so is gone")

    def test_half_a_module_for_torch(self):
        file = self.module("neutra_torch.so")
        with Changed(file, half):
            found = self.doctor()
            self.assert_named(found, "modules", "broken", file)
            self.assert_named(found, "torch", "broken", file)

    def test_a_module_that_crashes(self):
        file = self.module("neutra_torch.so")
        # Code that isn't there any more: the command dies of it where it calls it.
        with Changed(file, lambda content: content[:4096] + bytes(len(content) - 4096)):
            self.assert_named(self.doctor(), "torch", "broken", file, "died")

    def test_a_module_of_another_build(self):
        file = self.module("neutra_torch.so")
        commit = self.doctor()[1]["command"]["detail"].split("(")[1].split(")")[0].encode()
        with Changed(file, lambda content: content.replace(commit, b"0" * len(commit))):
            self.assert_named(self.doctor(), "torch", "broken", file, "another build")

    def test_no_libtorch(self):
        self.assert_named(self.doctor(NEUTRA_TORCH="none"), "torch", "missing", "LibTorch")

    def test_a_libtorch_that_is_not_where_it_is_said_to_be(self):
        found = self.doctor(NEUTRA_TORCH="/nowhere/torch")
        self.assert_named(found, "torch", "wrong", "NEUTRA_TORCH", "/nowhere/torch")

    def test_an_mpi_library_that_is_not_there(self):
        found = self.doctor(NEUTRA_MPI="/nowhere/libmpi.so")
        self.assert_named(found, "mpi", "wrong", "NEUTRA_MPI", "/nowhere/libmpi.so")

    def test_half_a_module_for_mpi(self):
        found = self.doctor()[1]["mpi"]
        if found["state"] != "ok":
            self.skipTest(found["detail"])
        family = "openmpi" if "Open MPI" in found["detail"].split(",")[0] else "mpich"
        file = self.module(f"neutra_mpi_{family}.so")
        with Changed(file, half):
            found = self.doctor()
            self.assert_named(found, "modules", "broken", file)
            self.assert_named(found, "mpi", "broken", file)

    def test_a_fault_that_was_cut(self):
        with Changed(self.share / "faults/D7.json", half) as file:
            found = self.doctor()
            self.assert_named(found, "fault D7", "broken", file)
            self.assert_named(found, "faults", "broken", "24 of 25")
            self.assert_named(found, "bundled files", "broken", "faults/D7.json is not as it was installed")

    def test_a_command_that_was_changed(self):
        file = self.module("neutra_torch.so")
        with Changed(file, lambda content: content[:-100] + bytes(100)):
            self.assert_named(self.doctor(), "bundled files", "broken", f"{file.name} is not as it was installed")

    def test_no_checksums(self):
        with Changed(self.share / "checksums.json", gone):
            self.assert_named(self.doctor(), "bundled files", "broken", "checksums.json is gone")

    def test_a_pipe_in_place_of_a_file(self):
        file = self.share / "data/d7.h5"
        with Changed(file, gone):
            os.mkfifo(file)
            try:
                self.assert_named(self.doctor(), "bundled files", "broken", "data/d7.h5 is no regular file")
            finally:
                file.unlink()

    def test_a_subject_that_is_gone(self):
        with Changed(self.share / "subjects/iris.json", gone) as file:
            found = self.doctor()
            self.assert_named(found, "subject iris", "broken", file)
            self.assert_named(found, "bundled files", "broken", "subjects/iris.json is gone")

    def test_no_list_of_subjects_and_faults(self):
        with Changed(self.share / "index.json", half) as file:
            found = self.doctor()
            self.assert_named(found, "faults", "broken", file)
            self.assert_named(found, "subjects", "broken", file)

    def test_a_number_in_a_table(self):
        with Changed(self.share / "tables/table3.csv", lambda content: content.replace(b"1", b"7", 1)):
            self.assert_named(self.doctor(), "bundled files", "broken", "tables/table3.csv is not as it was installed")

    def test_bundled_data_that_were_cut(self):
        with Changed(self.share / "data/iris.h5", half) as file:
            found = self.doctor()
            self.assert_named(found, "data iris.h5", "broken", file, "needed by")
            self.assert_named(found, "bundled data", "broken", " of ")

    def test_a_data_set_that_is_not_here(self):
        found = self.doctor()
        self.assert_named(found, "data reuters.npz", "missing", "R1", self.data)
        self.assertIn("https://", found[1]["data reuters.npz"]["hint"])

    def test_a_data_set_that_was_cut(self):
        with Changed(self.data / "fashion-mnist" / IMAGES[0], half) as file:
            self.assert_named(self.doctor(), "data fashion-mnist", "wrong", file, "F1")

    def test_a_data_folder_that_is_not_there(self):
        found = self.doctor(NEUTRA_DATA_DIR="/nowhere/sets")
        self.assert_named(found, "data folder", "wrong", "NEUTRA_DATA_DIR", "/nowhere/sets")
        self.assertIn("bundled data", found[1])

    def test_bundled_files_that_are_not_there(self):
        found = self.doctor(NEUTRA_RESOURCES="/nowhere/neutra")
        self.assert_named(found, "bundled files", "wrong", "NEUTRA_RESOURCES", "/nowhere/neutra")

    def test_programs_that_are_not_in_the_path(self):
        found = self.doctor(PATH="/nowhere")
        for name in ("dot", "rsvg-convert", "sbatch", "python"):
            self.assert_named(found, name, "missing", "PATH")

    def test_a_program_that_does_not_work(self):
        tools = self.folder / "tools"
        tools.mkdir()
        (tools / "dot").write_text("#!/bin/sh\necho no fonts >&2\nexit 7\n", encoding="utf-8")
        (tools / "dot").chmod(0o755)
        found = self.doctor(PATH=f"{tools}:{os.environ['PATH']}")
        shutil.rmtree(tools)
        self.assert_named(found, "dot", "wrong", "7", "no fonts")

    def test_no_folder_for_temporary_files(self):
        self.assert_named(self.doctor(TMPDIR="/nowhere"), "temporary folder", "wrong", "TMPDIR", "/nowhere")

    def test_a_folder_that_keeps_no_store(self):
        self.assert_named(self.doctor(folder="/proc"), "store", "wrong", "/proc")

    def test_an_instruction_set_that_does_not_exist(self):
        found = self.doctor(NEUTRA_ISA="sse9")
        self.assert_named(found, "processor", "wrong", "NEUTRA_ISA", "sse9")
        self.assertEqual(found[1]["torch"]["state"], "ok", "the other checks go on")

    def test_fewer_cores_than_the_machine_has(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one core may be used")
        first = str(min(os.sched_getaffinity(0)))
        self.assert_named(self.doctor(before=["taskset", "-c", first]), "cores", "note", "1 of the machine's")

    def test_manual_pages_that_are_gone(self):
        with Changed(self.prefix / "share/man/man1/neutra.1", gone) as file:
            self.assert_named(self.doctor(), "manual pages", "missing", file)


if __name__ == "__main__":
    unittest.main()
