"""The cache of trained counts saves a training where it can and costs nothing where it cannot."""

from pathlib import Path

import numpy as np
import pytest

from specbench.engine.models.cache import cache_directory, fingerprint, load, store, trained_for
from specbench.engine.models.training import Recipe, Trained, train

RECIPE = Recipe(corpus="python", training_tokens=2000)


def same(one: Trained, two: Trained) -> bool:
    """Whether two outcomes of training are equal in every array."""
    return (
        one.vocabulary == two.vocabulary
        and np.array_equal(one.tail_tokens, two.tail_tokens)
        and np.array_equal(one.tail_shares, two.tail_shares)
        and all(
            (a.length, a.distance) == (b.length, b.distance)
            and np.array_equal(a.contexts, b.contexts)
            and np.array_equal(a.starts, b.starts)
            and np.array_equal(a.tokens, b.tokens)
            and np.array_equal(a.counts, b.counts)
            for a, b in zip(one.tables, two.tables, strict=True)
        )
    )


@pytest.fixture(scope="module")
def trained() -> Trained:
    """A small outcome of training."""
    return train(RECIPE, [b"def one(x):\n    return x + 1\n" * 20, b"def two(x):\n    return x + 2\n" * 20])


def test_what_is_stored_is_loaded(trained: Trained, tmp_path: Path) -> None:
    """Every array comes back as it went."""
    store(tmp_path / "kept.npz", trained)
    loaded = load(tmp_path / "kept.npz")

    assert loaded is not None
    assert same(loaded, trained)


def test_the_second_start_does_not_train(tmp_path: Path) -> None:
    """What one start trained, the next one finds."""
    first = trained_for(RECIPE, tmp_path)
    (kept,) = tmp_path.iterdir()
    written = kept.stat().st_mtime_ns

    assert same(trained_for(RECIPE, tmp_path), first)
    assert [path.stat().st_mtime_ns for path in tmp_path.iterdir()] == [written]


@pytest.mark.parametrize("damage", [b"", b"no archive", b"PK\x03\x04 half an archive"])
def test_a_damaged_file_is_made_anew(damage: bytes, tmp_path: Path) -> None:
    """A file that is not what was stored is as good as none, and is replaced."""
    path = tmp_path / f"engine-{fingerprint(RECIPE)}.npz"
    path.write_bytes(damage)

    assert load(path) is None
    made = trained_for(RECIPE, tmp_path)
    again = load(path)
    assert again is not None
    assert same(again, made)


def test_a_truncated_file_is_refused(trained: Trained, tmp_path: Path) -> None:
    """An interrupted copy does not pass for a whole one."""
    store(tmp_path / "kept.npz", trained)
    whole = (tmp_path / "kept.npz").read_bytes()
    (tmp_path / "kept.npz").write_bytes(whole[: len(whole) // 2])

    assert load(tmp_path / "kept.npz") is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tokens0", np.array([60000], dtype=np.uint16)),
        ("starts0", np.array([1, 0], dtype=np.int64)),
        ("counts0", np.array([0], dtype=np.int32)),
        ("contexts0", np.array([3, 2, 1], dtype=np.uint64)),
    ],
)
def test_tables_that_contradict_themselves_are_refused(
    trained: Trained, tmp_path: Path, name: str, value: "np.ndarray[tuple[int], np.dtype[np.generic]]"
) -> None:
    """A sound archive with unsound tables would make the engine fail later; it is refused now."""
    path = tmp_path / "kept.npz"
    store(path, trained)
    with np.load(path) as arrays:
        changed = {key: arrays[key] for key in arrays} | {name: value}
    np.savez(path, **changed)

    assert load(path) is None


def test_pickles_are_never_opened(tmp_path: Path) -> None:
    """A cache directory may be writable by others, and a pickle can run what it likes."""
    np.savez(tmp_path / "kept.npz", words=np.array([{"a": 1}], dtype=object))

    assert load(tmp_path / "kept.npz") is None


def test_a_directory_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    """Training works where nothing can be kept: here a file stands where the directory would."""
    (tmp_path / "taken").write_text("")

    assert trained_for(RECIPE, tmp_path / "taken" / "below").vocabulary.words


def test_every_recipe_has_its_own_file() -> None:
    """Another recipe is another name."""
    names = {fingerprint(recipe) for recipe in (RECIPE, Recipe(corpus="prose"), Recipe(corpus="python", heads=4))}

    assert len(names) == 3


def test_the_cache_lies_where_the_platform_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """XDG_CACHE_HOME, or .cache in the home directory."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_directory() == tmp_path / "specbench"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_directory() == tmp_path / ".cache" / "specbench"
