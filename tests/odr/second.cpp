#include <plait/plait.hpp>

int second();
int second() { return 0; }
