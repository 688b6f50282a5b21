// Lists the tensors of a safetensors file, or says why it is not one:  inspect FILE
#include <plait/io/io.hpp>

#include <cstdio>
#include <exception>
#include <string>

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: inspect FILE\n");
        return 2;
    }
    try {
        const auto file = plait::io::open(argv[1]);
        std::size_t total = 0;
        for (const auto& [name, view] : file.tensors()) {
            std::printf("%-40s %-8s %-20s %12zu bytes\n", name.c_str(), std::string(plait::name(view.type())).c_str(),
                        to_string(view.shape()).c_str(), view.size_bytes());
            total += view.size_bytes();
        }
        for (const auto& [key, value] : file.metadata()) std::printf("%s = %s\n", key.c_str(), value.c_str());
        std::printf("%zu tensors, %zu bytes\n", file.tensors().size(), total);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "inspect: %s\n", e.what());
        return 1;
    }
}
