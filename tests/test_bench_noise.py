"""What a benchmark says of its machine."""

from bench import noise
from bench.noise import Noise


def test_a_busy_machine_is_told_by_how_much_longer_the_same_work_took(monkeypatch):
    clock = iter([0, 1, 1, 2, 2, 4, 4, 6, 6, 10])  # 1, 1, 2, 2 and 4 seconds
    monkeypatch.setattr(noise.time, "perf_counter", lambda: next(clock))
    machine = Noise(lambda: None)

    machine.probe()

    assert "2.00 times its best at the median, 4.0 times at worst" in str(machine)


def test_a_race_without_measurements_says_so():
    assert "not measured" in str(Noise())
