// Nothing but the precompiled header, which all test executables share.
