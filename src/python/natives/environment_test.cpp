// SPDX-License-Identifier: Apache-2.0
#include "python/natives/path_object.hpp"
#include "tests/support/program_trial.hpp"

namespace schedmate::python::natives {
namespace {

using testing::run_program;

TEST_CASE("what the request decides says so") {
  const auto trial = run_program(R"(
import os, torch
import torch.distributed as dist
n = torch.cuda.device_count()
world = int(os.environ['WORLD_SIZE'])
rank = int(os.environ.get('RANK', -1))
size = dist.get_world_size()
)",
                                 "", {}, 8);
  CHECK(trial["n"] == "4");
  CHECK(trial["world"] == "8");
  CHECK(trial["rank"] == "0");
  const Value* size = trial.seen.globals.find("size");
  REQUIRE(size != nullptr);
  CHECK(size->place->file == "<request>");
  CHECK(size->place->text == "processes 8");
  CHECK(size->place->source == FactSource::environment);
}

TEST_CASE("the devices of a job with GPUs are GPUs") {
  const auto trial = run_program(R"(
import jax
import tensorflow as tf
platform = jax.local_devices()[0].platform
backend = jax.default_backend()
counts = [len(jax.devices()), len(jax.devices('tpu')), len(tf.config.list_physical_devices('GPU'))]
kind = 'half' if jax.devices()[0].platform == 'gpu' else 'brain'
mine = [d for d in jax.local_devices() if d.process_index == jax.process_index()]
count = len(mine)
)",
                                 "", {}, 4);
  CHECK(trial["platform"] == "'gpu'");
  CHECK(trial["backend"] == "'gpu'");
  CHECK(trial["counts"] == "[4, 0, 4]");
  CHECK(trial["kind"] == "'half'");
  CHECK(trial["count"] == "4");
}

TEST_CASE("a program that starts its processes by itself has as many as it says") {
  const auto trial = run_program(R"(
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
def worker(rank, size):
    dist.init_process_group('nccl', world_size=size, rank=rank)
    return [dist.is_initialized(), dist.get_world_size()]
before = [dist.is_initialized(), dist.get_world_size()]
mp.spawn(worker, nprocs=4, args=(torch.cuda.device_count(),))
after = [dist.is_initialized(), dist.get_world_size()]
)");
  CHECK(trial["before"] == "[False, 1]");
  CHECK(trial["after"] == "[True, 4]");
}

TEST_CASE("without a launcher the variables of one are absent") {
  const auto trial = run_program(R"(
import os
ddp = int(os.environ.get('RANK', -1)) != -1
there = 'WORLD_SIZE' in os.environ
os.environ['MINE'] = 'x'
mine = os.getenv('MINE')
home = os.environ.get('HOME')
)");
  CHECK(trial["ddp"] == "False");
  CHECK(trial["there"] == "False");
  CHECK(trial["mine"] == "'x'");
  CHECK(trial["home"] != "None");
}

TEST_CASE("paths are joined, taken apart and looked up in the tree") {
  const auto trial = run_program(R"(
import os
from pathlib import Path
here = os.path.dirname(os.path.abspath(__file__))
conf = os.path.join(here, 'conf', 'a.yaml')
there = os.path.exists(conf)
p = Path('conf') / 'a.yaml'
got = [p.name, p.stem, p.suffix, str(p.parent), p.exists(), os.path.splitext('x.tar.gz')[0]]
text = p.read_text()
beside = [os.path.isfile('conf/b.yaml'), os.path.isdir('conf/data')]
open_ = [os.path.isfile('out/b.yaml'), os.path.isfile('conf/b.pt')]
)",
                                 "", {{"conf/a.yaml", "lr: 1\n"}});
  CHECK(trial["beside"] == "[False, ?]");
  CHECK(trial["open_"] == "[?, ?]");
  CHECK(trial["there"] == "True");
  CHECK(trial["got"] == "['a.yaml', 'a', '.yaml', 'conf', True, 'x.tar']");
  CHECK(trial["text"] == "'lr: 1\\n'");
}

TEST_CASE("arithmetic of math and numpy on known numbers") {
  const auto trial = run_program(R"(
import math, copy
import numpy as np
from functools import reduce
from itertools import product
from collections import OrderedDict, namedtuple
a = [math.ceil(7 / 2), math.sqrt(16), math.log2(8), int(np.ceil(2.5)), np.prod([2, 3])]
b = reduce(lambda x, y: x * y, [1, 2, 3])
c = len(list(product([1, 2], [3, 4, 5])))
d = copy.deepcopy({'x': [1]})
d['x'].append(2)
P = namedtuple('P', 'x y')
e = P(1, y=2).y
)");
  CHECK(trial["a"] == "[4, 4.0, 3.0, 3, 6]");
  CHECK(trial["b"] == "6");
  CHECK(trial["c"] == "6");
  CHECK(trial["d"] == "{'x': [1, 2]}");
  CHECK(trial["e"] == "2");
}

TEST_CASE("a defaultdict has what was asked for") {
  const auto trial = run_program(R"(
from collections import defaultdict
d = defaultdict(list)
d['a'].append(1)
n = defaultdict(int, {'x': 2})
n['y'] += 1
got = [d['a'], 'a' in d, 'b' in d, n['x'], n['y'], sorted(n.keys())]
)");
  CHECK(trial["got"] == "[[1], True, False, 2, 1, ['x', 'y']]");
}

TEST_CASE("paths are normalised as text") {
  CHECK(normal_path("a//b/../c/.") == "a/c");
  CHECK(normal_path("../a") == "../a");
  CHECK(normal_path("") == ".");
  CHECK(joined_path("a", "/b") == "/b");
  CHECK(parent_path("/a") == "/");
  CHECK(suffix_at(".bashrc") == 7);
}

}  // namespace
}  // namespace schedmate::python::natives
