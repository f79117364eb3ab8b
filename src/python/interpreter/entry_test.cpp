// SPDX-License-Identifier: Apache-2.0
#include "tests/support/program_trial.hpp"

namespace schedmate::python {
namespace {

using testing::run_entry;

const std::vector<testing::TrialFile> package{
    {"pkg/__init__.py", "from .net import Net\n"},
    {"pkg/net.py", "class Net:\n  size = 3\n"},
    {"pkg/pkg.py", "raise ValueError('the package was meant')\n"},
    {"pkg/cli.py",
     "from pkg import Net\nfrom .net import Net as Same\n"
     "seen = __name__\ndef main():\n  global got\n  got = [Net.size, Same.size]\n"},
    {"pkg/__main__.py", "from .cli import main, seen\nname = __name__\nmain()\n"},
};

TEST_CASE("a console script calls its function, and imports count from the package's folder") {
  PythonRun run;
  run.script = "pkg/cli.py";
  run.module = "pkg.cli";
  run.function = "main";
  const auto trial = run_entry(run, package);
  CHECK(trial["got"] == "[3, 3]");
  CHECK(trial["seen"] == "'pkg.cli'");
  CHECK(trial.seen.files.front() == "pkg/cli.py");
  CHECK(trial.seen.stops.empty());
}

TEST_CASE("a program run by its dotted name stands in its package and is __main__") {
  PythonRun run;
  run.script = "pkg/__main__.py";
  run.module = "pkg";
  const auto trial = run_entry(run, package);
  CHECK(trial["name"] == "'__main__'");
  CHECK(trial["seen"] == "'pkg.cli'");
  CHECK(trial.seen.files.front() == "pkg/__main__.py");
}

}  // namespace
}  // namespace schedmate::python
