"""Integer tensors as indices."""

import unittest

import oneflow as flow
import oneflow.unittest

from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestEmbedding(flow.unittest.TestCase):
    @autotest(n=5)
    def test_module(test_case):
        size = random(2, 9).to(int)
        m = torch.nn.Embedding(num_embeddings=size, embedding_dim=random(1, 6).to(int))
        m.train(random_bool())
        indices = random_tensor(ndim=2, low=0, high=size, dtype=int)
        return m(indices)


if __name__ == "__main__":
    unittest.main()
