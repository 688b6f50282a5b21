#ifdef PLAIT_SHARED_DIR

#include <plait/io/safetensors_file.hpp>

#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <string>

TEST_CASE("every shared safetensors file is judged as the manifest says") {
    const auto folder = std::filesystem::path(PLAIT_SHARED_DIR) / "cases" / "safetensors";
    if (!exists(folder / "manifest.json")) {
        WARN("there is no manifest.json among the shared cases");
        return;
    }
    std::ifstream in(folder / "manifest.json");
    for (const auto& item : nlohmann::json::parse(in)) {
        const auto name = item.at("file").get<std::string>();
        INFO(name);
        std::string verdict = "accept";
        try {
            const auto file = plait::io::open(folder / name);
            CHECK_NOTHROW(file.tensors());
        } catch (const plait::io_error& e) {
            verdict = "reject";
            INFO(e.what());
            CHECK_THAT(e.what(), Catch::Matchers::Contains(name));
            CHECK(e.where().file == (folder / name).string());
            CHECK_FALSE(e.fault().empty());
        }
        CHECK(verdict == item.at("expect").get<std::string>());
    }
}

#endif
