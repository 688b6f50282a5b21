// Two sources that include the library must link into one program: nothing may be defined twice.
#include <plait/plait.hpp>

int second();

int main() { return second(); }
