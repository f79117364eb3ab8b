// SPDX-License-Identifier: Apache-2.0
#include "tree/roots.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/small_tree.hpp"

namespace schedmate::tree {

using testing::SmallTree;

TEST_CASE("a path below a name of the root is one of the tree") {
  RootNames names;
  names.add("/scratch/ann/proj/", ".");
  names.add("/scratch/ann/proj/sub", "elsewhere");
  CHECK(names.inside("/scratch/ann/proj/a/b.py") == "a/b.py");
  CHECK(names.inside("/scratch/ann/proj") == ".");
  CHECK(names.inside("/scratch/ann/proj/sub/x") == "elsewhere/x");
  CHECK_FALSE(names.inside("/scratch/ann/projector/a"));
  CHECK(names.replaced("--config=/scratch/ann/proj/a.yaml,/data/x /scratch/ann/proj", "@") ==
        "--config=@/a.yaml,/data/x @");
  CHECK(names.replaced("x/scratch/ann/proj/a", "@") == "x/scratch/ann/proj/a");
}

TEST_CASE("the end of an absolute path is looked for, and what is taken for the root is said") {
  SmallTree tree({{"conf/a.yaml", "x: 1\n"}, {"config.json", "{}"}, {"train.py", ""}});
  CHECK_FALSE(tree->locate(".", "/models/llama/config.json"));
  CHECK(tree->degraded().empty());
  CHECK(tree->locate(".", "/scratch/ann/proj/conf/a.yaml").value() == "conf/a.yaml");
  REQUIRE(tree->degraded().size() == 1);
  CHECK(tree->degraded()[0].contains("/scratch/ann/proj"));
  // What stands before it is the root from then on.
  CHECK(tree->locate(".", "/scratch/ann/proj/train.py").value() == "train.py");
  CHECK(tree->read("/scratch/ann/proj/train.py").has_value());
  CHECK_FALSE(tree->locate(".", "/etc/passwd"));
  CHECK_FALSE(tree->locate(".", "/scratch/ann/proj/../../x"));
}

TEST_CASE("a guess takes a script by its name, and never looks further than a tree is deep") {
  SmallTree tree({{"train.py", ""}, {"tools/train.py", ""}});
  CHECK(tree->guess("/repo/tools/train.py", 1) == "tools/train.py");
  CHECK(tree->guess("/repo/other/train.py", 1) == "train.py");
  std::string deep;
  for (int i = 0; i < 50'000; ++i) deep += "/a";
  CHECK_FALSE(tree->guess(deep, 1));
  CHECK(tree->guess(deep + "/train.py", 1) == "train.py");
}

TEST_CASE("a name that is given counts, and is not said") {
  SmallTree tree({{"src/train.py", ""}, {"train.py", ""}});
  tree->add_root("/scratch/run1/code", "src");
  CHECK(tree->locate(".", "/scratch/run1/code/train.py").value() == "src/train.py");
  CHECK(tree->with_root("cd /scratch/run1/code", "@") == "cd @/src");
  CHECK(tree->degraded().empty());
}

TEST_CASE("a file that is not UTF-8 says in which line") {
  SmallTree tree({{"a.yaml", "name: x\nowner: Jos\xe9\n"}, {"b.yaml", "owner: José\n"}});
  CHECK(tree->read("a.yaml").value()->odd_line == 2);
  CHECK(tree->read("b.yaml").value()->odd_line == 0);
}

}  // namespace schedmate::tree
