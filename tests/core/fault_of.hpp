#pragma once

#include <string>

/// What f() throws as an Error says; empty when it throws nothing. Other exceptions pass.
template <class Error, class F>
std::string fault_of(F f) {
    try {
        f();
    } catch (const Error& e) {
        return e.what();
    }
    return {};
}

inline bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
