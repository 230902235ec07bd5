"""Stand-ins of Keras and PyTorch that record what a script makes and train nothing: tests of the source map and of
patches run scripts with them."""
