"""Gradients against numbers: differences of a function held against what autograd says of it.

Enter functions of tensors, or recorded programs, with the `Framework` that runs them; leave rows of a table. The
frameworks' own names are reached through `Framework.resolve`, so that one check serves all of them.
"""
