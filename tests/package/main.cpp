#include <plait/plait.hpp>

int main() {}
