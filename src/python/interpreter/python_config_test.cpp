// SPDX-License-Identifier: Apache-2.0
#include "tests/support/program_trial.hpp"

namespace schedmate::python {
namespace {

struct Configs {
  testing::Scratch folder;
  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path full = folder.path(path);
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full) << text;
  }
  [[nodiscard]] Result<Value> read(const std::string& path) const {
    auto tree = tree::Tree::open(folder.path());
    REQUIRE(tree.has_value());
    return read_python_config(*tree, path);
  }
};

std::string at(const Value& value, std::string_view path) {
  const Value* found = find_path(value, path);
  return found == nullptr ? "<absent>" : repr(*found);
}

TEST_CASE("a config is merged over its bases, deep, with places of its own") {
  Configs configs;
  configs.write("base/model.py", "model = dict(type='Net', depth=50, head=dict(a=1, b=2))\n");
  configs.write("base/run.py", "max_epochs = 100\nlr = 0.1\n");
  configs.write("leaf/mine.py", R"(
_base_ = ['../base/model.py', '../base/run.py']
max_epochs = 12
model = dict(depth=101, head=dict(_delete_=True, c=3))
import os
def helper(): pass
)");
  const auto config = configs.read("leaf/mine.py");
  REQUIRE(config.has_value());
  CHECK(at(*config, "model.type") == "'Net'");
  CHECK(at(*config, "model.depth") == "101");
  CHECK(at(*config, "model.head") == "{'c': 3}");
  CHECK(at(*config, "max_epochs") == "12");
  CHECK(at(*config, "lr") == "0.1");
  CHECK(at(*config, "helper") == "<absent>");
  const Value* epochs = find_path(*config, "max_epochs");
  CHECK(epochs->place->file == "leaf/mine.py");
  CHECK(epochs->place->line == 3);
  CHECK(epochs->place->source == FactSource::config);
}

TEST_CASE("a config can read what its base says") {
  Configs configs;
  configs.write("base.py", "size = 224\nmodel = dict(width=8)\n");
  configs.write("mine.py", R"(
_base_ = './base.py'
crop = {{_base_.size}}
wide = _base_.model.width * 2
name = '{{fileBasenameNoExtension}}'
)");
  const auto config = configs.read("mine.py");
  REQUIRE(config.has_value());
  CHECK(at(*config, "crop") == "224");
  CHECK(at(*config, "wide") == "16");
  CHECK(at(*config, "name") == "'mine'");
}

TEST_CASE("the new style imports its bases") {
  Configs configs;
  configs.write("base.py",
                "from torch.optim import AdamW\noptimizer = dict(type=AdamW, lr=1e-4)\n");
  configs.write("mine.py", R"(
from mmengine.config import read_base
with read_base():
    from .base import *
optimizer.update(lr=2e-4)
)");
  const auto config = configs.read("mine.py");
  REQUIRE(config.has_value());
  CHECK(at(*config, "optimizer.type") == "'torch.optim.AdamW'");
  CHECK(at(*config, "optimizer.lr") == "0.0002");
}

TEST_CASE("bases that lead in a circle are an error") {
  Configs configs;
  configs.write("a.py", "_base_ = 'b.py'\n");
  configs.write("b.py", "_base_ = 'a.py'\n");
  const auto config = configs.read("a.py");
  REQUIRE_FALSE(config.has_value());
  CHECK(config.error().message.find("_base_") != std::string::npos);
}

TEST_CASE("a base that is missing is noted, the rest is read") {
  Configs configs;
  configs.write("a.py", "_base_ = 'gone.py'\nx = 1\n");
  const auto config = configs.read("a.py");
  REQUIRE(config.has_value());
  CHECK(at(*config, "x") == "1");
}

}  // namespace
}  // namespace schedmate::python
