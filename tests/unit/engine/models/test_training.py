"""Training turns documents into models that know them."""

from itertools import islice

from specbench.engine.models.ngram_model import LanguageModel
from specbench.engine.models.training import Recipe, models_of, prose_documents, python_documents, train
from specbench.engine.models.vocabulary import EOS, decode, encode
from tests.support.engines import small_models

DOCUMENTS = [b"one two three", b"one two four", b"one two three"]


def continued(model: LanguageModel, text: list[int], count: int) -> list[int]:
    """The text's best guesses, one after the other."""
    for _ in range(count):
        text = [*text, model.next_token(text).tokens[0]]
    return text


def test_a_model_continues_what_it_has_read() -> None:
    """The most probable continuation is the most frequent one, and then the end."""
    recipe = Recipe(corpus="python")
    models = models_of(recipe, train(recipe, DOCUMENTS))
    text = continued(models.target, encode(models.vocabulary, "one two"), 2)

    assert decode(models.vocabulary, text) == "one two three"
    assert text[-1] == EOS


def test_training_stops_at_its_size() -> None:
    """Documents after the asked number of tokens are not read."""
    documents = iter(DOCUMENTS)
    train(Recipe(corpus="python", training_tokens=4), documents)

    assert list(documents) == DOCUMENTS[2:]


def test_training_twice_gives_the_same() -> None:
    """No order of hashing, no clock: the tables are equal."""
    recipe = Recipe(corpus="python", heads=2, training_tokens=3000)
    one, two = (train(recipe, python_documents()) for _ in range(2))

    assert one.vocabulary == two.vocabulary
    assert all(
        a.contexts.tolist() == b.contexts.tolist() and a.tokens.tolist() == b.tokens.tolist()
        for a, b in zip(one.tables, two.tables, strict=True)
    )


def test_the_draft_knows_less_than_the_target() -> None:
    """The draft agrees with the target often, not always."""
    models = small_models()
    tokens = encode(models.vocabulary, b"".join(islice(python_documents(), 20)).decode(errors="replace"))[:1500]
    agree = [
        models.target.next_token(tokens[:i]).tokens[0] == models.draft.next_token(tokens[:i]).tokens[0] for i in range(8, 1500, 7)
    ]

    assert 0.5 < sum(agree) / len(agree) < 0.98


def test_heads_look_further_ahead() -> None:
    """Head k knows what stands k + 2 places after the context, whatever stands between."""
    recipe = Recipe(corpus="python", heads=2)
    models = models_of(recipe, train(recipe, [b"a b c d e"] * 3 + [b"a x c y e"] * 2))
    guesses = [decode(models.vocabulary, [head.next_token([ord("a")]).tokens[0]]) for head in models.heads]

    assert guesses == [" c", " d"]


def test_both_corpora_have_text_enough() -> None:
    """Any Python installation brings long documents for either corpus, the same ones every time."""
    for documents in (python_documents, prose_documents):
        first = list(islice(documents(), 50))
        assert sum(map(len, first)) > 5000
        assert first == list(islice(documents(), 50))
