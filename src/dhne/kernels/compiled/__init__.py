"""Loops over non-zeros, compiled by numba for the CPU; plain arrays in, plain arrays out.

Work is cut into one piece per thread, equal in non-zeros, so a hub's row is shared out like any
other. No two threads write to the same place and every sum has one order, so that the bits depend
on the number of threads alone. Gradients of tables are summed column by column through the
transposed batch matrix; nothing is scattered. `pieces` is the number of threads, given from outside
because what asks numba for it cannot be cached.

===============  ===================================================================================
`matrix`         the batch matrix by rows and by columns; the distinct nodes of a batch
`autoencoder`    M W, the reconstruction, and their gradients
`similarity`     the hidden layer of tuples and its gradient
`optimizers`     steps over the rows of a table, with their gradient or from what it is a sum of
`counts`         what tuples' nodes share, for `dhne.model.evidence`
===============  ===================================================================================
"""
