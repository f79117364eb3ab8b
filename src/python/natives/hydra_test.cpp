// SPDX-License-Identifier: Apache-2.0
#include "tests/support/program_trial.hpp"

namespace schedmate::python::natives {
namespace {

using testing::run_entry;
using testing::run_program;

std::vector<command::Word> words(std::initializer_list<const char*> texts) {
  std::vector<command::Word> all;
  for (const char* text : texts) all.push_back({text, {}, true});
  return all;
}

TEST_CASE("--config-path counts from the script, --config-dir from where it is run") {
  const std::string program = R"(
import hydra
@hydra.main(config_path='conf', config_name='config')
def main(cfg):
    global got
    got = cfg.size
main()
)";
  const std::vector<testing::TrialFile> files{{"tools/run.py", program},
                                              {"tools/conf/config.yaml", "size: 1\n"},
                                              {"tools/other/config.yaml", "size: 2\n"},
                                              {"other/config.yaml", "size: 3\n"}};
  const auto size = [&](std::vector<command::Word> given) {
    PythonRun run;
    run.script = "tools/run.py";
    run.args = std::move(given);
    return run_entry(run, files)["got"];
  };
  CHECK(size({}) == "1");
  CHECK(size(words({"--config-path=other"})) == "2");
  CHECK(size(words({"-cp", "../other", "size=9"})) == "9");
  CHECK(size(words({"--config-dir", "other"})) == "3");
}

TEST_CASE("decorators that projects build on Hydra's inner function") {
  const auto trial = run_program(R"(
import functools
from hydra._internal.utils import _run_hydra, get_args_parser
def runner(config_path='.', config_name=None):
    def decorator(task):
        @functools.wraps(task)
        def wrapper(passed=None):
            parser = get_args_parser()
            args = parser.parse_args()
            args.overrides.append('hydra.run.dir=.')
            _run_hydra(args=args, args_parser=parser, task_function=task,
                       config_path=config_path, config_name=config_name)
        return wrapper
    return decorator
@runner(config_path='conf', config_name='config')
def main(cfg):
    global got
    got = [cfg.size, cfg.model.width]
main()
)",
                                 "--config-name=large model.width=5",
                                 {{"conf/large.yaml", "size: 4\nmodel:\n  width: 1\n"}});
  CHECK(trial["got"] == "[4, 5]");
}

}  // namespace
}  // namespace schedmate::python::natives
