// The owner of the precompiled header of the tests.
int main() {}
