// Proves the helper itself: two faults with a sentence, one without.
template <class T>
void wants_a_big_type() {
#if PLAIT_CASE == 1
    static_assert(sizeof(T) > 100, "take a bigger type, for instance an array");
#endif
}

void a_number_must_be_zero() {}

consteval int checked(int number) {
    if (number != 0) a_number_must_be_zero();
    return number;
}

int main() {
    wants_a_big_type<int>();
#if PLAIT_CASE == 2
    return checked(1);
#elif PLAIT_CASE == 3
    return "the sentence in the source, not in the message";
#endif
    return checked(0);
}
