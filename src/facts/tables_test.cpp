// SPDX-License-Identifier: Apache-2.0
#include "facts/tables.hpp"

#include <doctest/doctest.h>
#include <toml++/toml.h>

#include <fstream>
#include <set>

#include "facts/tables_rows.hpp"
#include "tests/support/scratch.hpp"

namespace schedmate::facts {
namespace {

const Tables& tables() {
  static const auto loaded = Tables::load();
  REQUIRE_MESSAGE(loaded, (loaded ? "" : loaded.error().message));
  return *loaded;
}

toml::table builtin(std::string_view name) {
  for (const TableFile& file : builtin_tables())
    if (file.name == name) return toml::parse(file.text);
  return {};
}

std::vector<std::string> texts(const toml::table& row, std::string_view key) {
  std::vector<std::string> found;
  if (const auto* list = row[key].as_array())
    for (const auto& each : *list) found.push_back(*each.value<std::string>());
  return found;
}

std::string name_of(const toml::table& row) { return row["name"].value<std::string>().value(); }

/// The built-in row that an answer shows must be a line of that file.
void check_evidence(const Evidence& row, std::string_view file) {
  CHECK(row.file == "rules/" + std::string(file));
  CHECK(row.line > 0);
  CHECK_FALSE(row.text.empty());
}

void check_names(const toml::table& row, const std::string& wanted) {
  for (const auto* key : {"aliases", "weak"}) {
    for (const auto& alias : texts(row, key)) {
      CAPTURE(alias);
      const auto match = tables().find_model(alias);
      REQUIRE(match);
      CHECK(match->name == wanted);
    }
  }
}

TEST_CASE("each alias of a model leads to its row and to no other") {
  const std::set<std::string> types = {"cnn",
                                       "transformer",
                                       "rnn",
                                       "mlp",
                                       "gnn",
                                       "gan",
                                       "diffusion",
                                       "vae",
                                       "flow",
                                       "ssm",
                                       "embedding",
                                       "linear",
                                       "rl policy",
                                       "world model",
                                       "neural operator",
                                       "gaussian splatting"};
  const std::set<std::string> tasks = {"cv",         "nlp",         "speech", "rl",
                                       "multimodal", "graph",       "recsys", "tabular",
                                       "biology",    "time series", "science"};
  const auto table = builtin("models.toml");
  std::size_t models = 0;
  for (const auto& each : *table["model"].as_array()) {
    const toml::table& row = *each.as_table();
    CAPTURE(name_of(row));
    CHECK(types.contains(row["type"].value_or(std::string())));
    CHECK(tasks.contains(row["task"].value_or(std::string())));
    check_names(row, name_of(row));
    ++models;
    const auto* sizes = row["sizes"].as_array();
    for (std::size_t i = 0; sizes != nullptr && i < sizes->size(); ++i, ++models) {
      check_names(*(*sizes)[i].as_table(), name_of(*(*sizes)[i].as_table()));
      CHECK_FALSE(texts(*(*sizes)[i].as_table(), "aliases").empty());
    }
  }
  CHECK(models >= 250);
}

TEST_CASE("each alias of a data set and of an optimiser leads to its row") {
  const auto datasets = builtin("datasets.toml");
  CHECK(datasets["dataset"].as_array()->size() >= 120);
  for (const auto& each : *datasets["dataset"].as_array()) {
    const toml::table& row = *each.as_table();
    CHECK_FALSE((texts(row, "aliases").empty() && texts(row, "weak").empty()));
    for (const auto* key : {"aliases", "weak"}) {
      for (const auto& alias : texts(row, key)) {
        CAPTURE(alias);
        const auto match = tables().find_dataset(alias);
        REQUIRE(match);
        CHECK(match->name == name_of(row));
        check_evidence(match->row, "datasets.toml");
      }
    }
  }
  const auto optimizers = builtin("optimizers.toml");
  for (const auto& each : *optimizers["optimizer"].as_array()) {
    for (const auto& alias : texts(*each.as_table(), "aliases")) {
      CAPTURE(alias);
      const auto match = tables().find_optimizer("some.library." + alias);
      REQUIRE(match);
      CHECK(match->name == name_of(*each.as_table()));
    }
  }
}

TEST_CASE("each default is found by its callee and shows its line") {
  const auto table = builtin("defaults.toml");
  for (const auto& each : *table["default"].as_array()) {
    const toml::table& row = *each.as_table();
    const auto before = row["before"].value_or(std::string());
    for (std::string callee : texts(row, "callees")) {
      if (const auto star = callee.find('*'); star != std::string::npos)
        callee.replace(star, 1, "any.Part()");
      for (const auto& [argument, value] : *row["arguments"].as_table()) {
        CAPTURE(callee);
        CAPTURE(argument.str());
        const auto match =
            tables().find_default(callee, argument.str(), before.empty() ? "" : "0.0.1");
        REQUIRE(match);
        CHECK(match->value.index() != 0);
        check_evidence(match->row, "defaults.toml");
        CHECK(match->row.text.contains(argument.str()));
      }
    }
  }
}

struct Wanted {
  const char* text;
  const char* name;  ///< "" for none
};

TEST_CASE("models are found in hub ids, paths, flags and class names") {
  for (const auto& [text, name] : {
           Wanted{"facebook/opt-6.7b", "OPT-6.7B"},
           Wanted{"/models/llama-7b-hf/checkpoint-500", "LLaMA-7B"},
           Wanted{"meta-llama/Llama-2-13b-chat-hf", "Llama-2-13B"},
           Wanted{"Meta-Llama-3-8B-Instruct", "Llama-3-8B"},
           Wanted{"bigscience/bloom-1b7", "BLOOM-1.7B"},
           Wanted{"experiments/imagenet/cvt-21-224x224", "CvT-21"},
           Wanted{"ConvolutionalVisionTransformer", "CvT"},
           Wanted{"llama7b", "LLaMA-7B"},
           Wanted{"mistralai/Mixtral-8x7B-v0.1", "Mixtral-8x7B"},
           Wanted{"torchvision.models.ResNet50_Weights", "ResNet-50"},
           Wanted{"vit_base_patch16_224.augreg_in21k", "ViT-B/16"},
           Wanted{"BertForSequenceClassification", "BERT-base"},
           Wanted{"GPT2LMHeadModel", "GPT-2 124M"},
           Wanted{"yolov8n.pt", "YOLOv8n"},
           Wanted{"deeplabv3plus_resnet50_os8", "DeepLabV3+ ResNet-50"},
           Wanted{"DeepLabV3+", "DeepLabV3+"},
       }) {
    CAPTURE(text);
    const auto match = tables().find_model(text);
    REQUIRE(match);
    CHECK(match->name == name);
    check_evidence(match->row, "models.toml");
  }
  CHECK(tables().find_model("facebook/opt-350m")->params_millions == 350);
  CHECK(tables().find_model("gpt2-xl")->params_millions.value() > 1000);
}

TEST_CASE("parts of other words and common words are no names") {
  for (const auto* text :
       {"SimpleDenseNet", "clip_grad_norm", "adam_opt", "resnet50x4abc", "",
        "graph_transformer_layer", "optimal", "unclip", "/", "..", "7b", "bert4"}) {
    CAPTURE(text);
    CHECK_FALSE(tables().find_model(text));
  }
  for (const auto* text : {"PermutedMNIST", "weather_station", "training_race", "cocoa", ""}) {
    CAPTURE(text);
    CHECK_FALSE(tables().find_dataset(text));
  }
  for (const auto* text :
       {"torch.optim.lr_scheduler.StepLR", "foo.step", "numpy.add", "MyAdam", "adam_config", ""}) {
    CAPTURE(text);
    CHECK_FALSE(tables().find_optimizer(text));
  }
}

TEST_CASE("data sets are found in paths, ids and loaders") {
  for (const auto& [text, name] : {
           Wanted{"/data/imagenet/train", "ImageNet-1k"},
           Wanted{"torchvision.datasets.CIFAR10", "CIFAR-10"},
           Wanted{"MNISTDataModule", "MNIST"},
           Wanted{"data/tiny-imagenet-200", "Tiny ImageNet"},
           Wanted{"wikitext-103-raw-v1", "WikiText-103"},
           Wanted{"./alpaca_data.json", "Alpaca 52k"},
           Wanted{"BreakoutNoFrameskip-v4", "Atari Breakout"},
           Wanted{"LibriSpeech/train-clean-100", "LibriSpeech 100h"},
       }) {
    CAPTURE(text);
    const auto match = tables().find_dataset(text);
    REQUIRE(match);
    CHECK(match->name == name);
  }
}

TEST_CASE("a default may depend on the version") {
  const auto value = [](std::string_view version) {
    return std::get<std::string>(
        tables().find_default("transformers.TrainingArguments", "optim", version)->value);
  };
  CHECK(value("") == "adamw_torch");
  CHECK(value("4.20.1") == "adamw_hf");
  CHECK(value("4.28") == "adamw_torch");
  CHECK_FALSE(tables().find_default("transformers.TrainingArguments", "nothing"));
  CHECK_FALSE(tables().find_default("sklearn.svm.SVC().fit", "epochs"));
  CHECK(std::get<std::int64_t>(
            tables().find_default("tensorflow.keras.Model().fit", "batch_size")->value) == 32);
}

TEST_CASE("an operator's folder adds rows and replaces those of the same name") {
  const testing::Scratch scratch;
  std::ofstream(scratch.path("models.toml"))
      << "[[model]]\nname = \"House Net\"\ntype = \"cnn\"\naliases = [\"housenet\"]\n"
         "sized = \"House Net {size}\"\n[[model]]\nname = \"MoCo\"\ntype = \"cnn\"\n"
         "aliases = [\"moco\"]\nparams_m = 5\n";
  const std::vector<std::string> folders = {scratch.path()};
  const auto own = Tables::load(folders);
  REQUIRE(own);
  CHECK(own->find_model("housenet-3b")->name == "House Net 3B");
  CHECK(own->find_model("moco")->params_millions == 5);
  CHECK_FALSE(own->find_model("mocov2"));
  CHECK(own->find_model("resnet50"));
}

TEST_CASE("a table that cannot be right is refused with its line") {
  const testing::Scratch scratch;
  const std::vector<std::string> folders = {scratch.path()};
  const auto error_of = [&](const std::string& text) {
    std::ofstream(scratch.path("models.toml"), std::ios::trunc) << text;
    const auto loaded = Tables::load(folders);
    return loaded ? std::string("good") : loaded.error().message;
  };
  CHECK(error_of("[[model]]\nname = \"X\"\naliases = [\"resnet50\"]\n") ==
        "rules/models.toml:2:8: the alias 'resnet50' belongs to 'ResNet' already");
  CHECK(error_of("[[model]]\nname = \"X\"\nalias = [\"x\"]\n").contains("nearest: aliases"));
  CHECK(error_of("[[model]]\ntype = \"cnn\"\n") == "rules/models.toml:1:1: name is missing here");
  CHECK(
      error_of("[[model]]\nname = \"X\"\nparams_m = -1\n").starts_with("rules/models.toml:3:12: "));
  CHECK(error_of("[[dataset]]\nname = \"X\"\n").contains("unknown key 'dataset' (nearest: model;"));
  CHECK(error_of("[[model]]\nname = \n").starts_with("rules/models.toml:2:"));
  CHECK(error_of("model = 3\n").contains("must be a list of tables, each headed [[model]]"));
}

}  // namespace
}  // namespace schedmate::facts
