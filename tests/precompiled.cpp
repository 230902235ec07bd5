// Nothing: the object that owns the precompiled header of the tests.
