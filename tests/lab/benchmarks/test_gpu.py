"""The race on a borrowed GPU: a JAX without its GPU is not compared with a torch that has one."""

from lab.benchmarks.gpu import beside


def test_speeds_are_compared_on_one_kind_of_device_alone():
    assert beside(600.0, "cuda", 200.0, "blackjax", "cuda") == "blackjax on cuda: 200; the engine is 3 times as fast"
    assert beside(600.0, "cuda", 200.0, "blackjax", "cpu") == "blackjax on cpu: 200; no ratio: the engine ran on cuda"
