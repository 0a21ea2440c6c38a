"""A network of KataGo is read, evaluated and taught from."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from tests.needs import need

from tengen.board import BLACK, WHITE, Board, Rules
from tengen.cli import run
from tengen.errors import ModelError, RunError

torch = need("torch")

from tengen.models import Run, read_card
from tengen.network import DeepNetwork, katago, training
from tengen.network.distillation import Student, distil, fit_temperatures, softened
from tengen.network.katago import Teacher, inputs_of
from tengen.network.katago_kernels import LADDER_BIT
from tengen.network.labelling import (
    Answers,
    Labeller,
    TeacherGames,
    label,
    read_answers,
    teacher_arrays,
)
from tengen.network.settings import DESIGNS, DistillationSettings, LabellingSettings
from tengen.network.shards import Shard

# The layers of small networks in KataGo's order: convolutions (side, channels in and out), norms,
# products, biases, norms of points (r) and of the board (t), frequencies; other words stand for
# themselves.
ORDINARY = "ordinary_block block n6 relu c3,6,6 n6 relu c3,6,6"
POOLING = "gpool_block block n6 relu c3,6,6 c3,6,4 n4 relu p12,6 n6 relu c3,6,6"
LAYERS = f"""
    test-network VERSION 22 19 trunk 2 6 6 6 6 6 c3,22,6 p19,6 {ORDINARY} {POOLING}
    n6 relu policy_head c1,6,4 c1,6,4 n4 relu p12,4 n4 relu c1,4,1 p12,1
    value_head c1,6,4 n4 relu p12,5 b5 relu p5,3 b3 p5,4 b4 c1,4,1
"""

MISH, SILU = "act ACTIVATION_MISH", "act ACTIVATION_SILU"
ATTENTION = "transformer_attention_block block 4 2 4 3 1 1 r8 p8,16 p8,8 p8,6 p12,8 f2,2,2"
FEED_FORWARD = "transformer_ffn_block block 8 16 1 r8 p8,16 p8,16 p16,8"
INSIDE = f"ordinary_block block n4 {SILU} c3,4,4 n4 {MISH} c3,4,4"
NESTED = f"nested_bottleneck_block block 1 n8 {MISH} c1,8,4 {INSIDE} n4 {MISH} c1,4,8"
TRANSFORMER = f"""
    test-network VERSION 22 19 1 20 20 20 1 1 1 0 1 0 0 0 0 0 0 trunk 3 8 8 8 8 8 1 0 0 0 0 0
    c3,22,8 p19,8 {ATTENTION} {FEED_FORWARD} {NESTED} t8 {MISH}
    policy_head 2 0 0 0 c1,8,4 c1,8,4 n4 {MISH} p12,4 n4 {MISH} c1,4,2 p12,4 b4 {MISH} p4,2
    value_head 0 0 0 c1,8,4 n4 {MISH} p12,5 b5 {MISH} p5,3 b3 p5,4 b4 c1,4,1
"""


def write_network(path: Path, *, version: int = 8, seed: int = 1, layers: str = LAYERS) -> Path:
    """Write a network with random weights, of one ordinary and one pooling block by default."""
    chance = np.random.default_rng(seed)

    def tensor(*shape: int) -> bytes:
        return b"@BIN@" + (chance.normal(size=shape) * 0.3).astype("<f4").tobytes() + b"\n"

    parts: list[bytes] = []
    for word in layers.replace("VERSION", str(version)).split():
        if not re.fullmatch(r"[cnpbrtf]\d[\d,]*", word):
            parts.append(f"{word}\n".encode())
            continue
        sizes = [int(size) for size in word[1:].split(",")]
        if word[0] == "c":
            side, given, made = sizes
            parts += [f"layer {side} {side} {given} {made} 1 1\n".encode()]
            parts += [tensor(side, side, given, made)]
        elif word[0] == "n":
            spread = (1 + chance.random(sizes)).astype("<f4").tobytes()
            parts += [f"layer {sizes[0]} 0.001 0 1\n".encode(), tensor(*sizes)]
            parts += [b"@BIN@" + spread + b"\n", tensor(*sizes)]
        elif word[0] == "r":
            parts += [f"layer {sizes[0]} 0.001\n".encode(), tensor(*sizes)]
        elif word[0] == "t":
            parts += [f"layer {sizes[0]} 0.001 0 1\n".encode(), tensor(*sizes), tensor(*sizes)]
        else:
            parts += [f"layer {' '.join(map(str, sizes))}\n".encode(), tensor(*sizes)]
    path.write_bytes(gzip.compress(b"".join(parts)))
    return path


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)  # so small tensors only wait for more
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def raw(load_benchmark: Callable[[str], ModuleType]) -> ModuleType:
    return load_benchmark("katago_raw")


@pytest.fixture(scope="module")
def teacher(tmp_path_factory: pytest.TempPathFactory) -> Teacher:
    return Teacher(write_network(tmp_path_factory.mktemp("teacher") / "net.bin.gz")).eval()


@pytest.fixture(scope="module")
def transformer(tmp_path_factory: pytest.TempPathFactory) -> Teacher:
    path = tmp_path_factory.mktemp("transformer") / "net.bin.gz"
    return Teacher(write_network(path, version=17, layers=TRANSFORMER)).eval()


def _boards(size: int, count: int) -> list[Board]:
    chance = np.random.default_rng(size)
    boards = []
    for _ in range(count):
        board = Board(size, komi=6.5, rules=Rules.preset("japanese"))
        for _ in range(int(chance.integers(0, size * 4))):
            legal = list(board.legal_moves)
            board.play(legal[int(chance.integers(len(legal)))])
        boards.append(board)
    return boards


@pytest.mark.parametrize("kind", ["teacher", "transformer"])
def test_the_answers_have_their_shapes_and_ranges(
    kind: str, raw: ModuleType, request: pytest.FixtureRequest
) -> None:
    said = request.getfixturevalue(kind)(*inputs_of(raw.positions_of(_boards(9, 5))))
    assert said.moves.shape == (5, 82) and said.ownership.shape == (5, 81)
    assert ((said.winner > 0) & (said.winner < 1)).all()
    assert (said.spread > 0).all() and (said.ownership.abs() <= 1).all()


def test_attention_is_that_of_a_slow_reference(transformer: Teacher) -> None:
    block = transformer.blocks[0]
    rows, cols, (heads, shared) = 2, 3, (4, 2)
    x = np.random.default_rng(2).normal(size=(8, rows, cols)).astype(np.float32)
    w = {name: value.numpy() for name, value in block.named_buffers()}
    seen = {}
    for row in range(rows):
        for col in range(cols):
            y = x[:, row, col] / np.sqrt((x[:, row, col] ** 2).mean() + 0.001)
            y = y * w["norm.weight"]
            seen[row, col] = [y @ w[f"{name}.matrix"] for name in ("queries", "keys", "values")]

    def turned(vector: np.ndarray, row: int, col: int, head: int) -> np.ndarray:
        """Turn each pair of channels as a complex number."""
        pairs = vector[0::2] + 1j * vector[1::2]
        by_col, by_row = w["frequencies"][head].T
        pairs = pairs * np.exp(1j * (col * by_col + row * by_row))
        return np.stack([pairs.real, pairs.imag], 1).ravel()

    expected = x.copy()
    for (row, col), (query, _, _) in seen.items():
        found = []
        for head in range(heads):
            other = head // shared
            q = turned(query[4 * head : 4 * head + 4], row, col, other)
            keys = [
                turned(k[4 * other : 4 * other + 4], *at, other) for at, (_, k, _) in seen.items()
            ]
            weight = np.exp([q @ k / 2 for k in keys])
            values = [v[3 * other : 3 * other + 3] for _, _, v in seen.values()]
            found.append(weight / weight.sum() @ np.array(values))
        expected[:, row, col] += np.concatenate(found) @ w["last.matrix"]
    with torch.no_grad():
        answer = block(torch.from_numpy(x)[None])[0].numpy()
    np.testing.assert_allclose(answer, expected, rtol=1e-4, atol=1e-5)


def test_gates_multiply_in_the_feed_forward_block(transformer: Teacher) -> None:
    block = transformer.blocks[1]
    x = torch.randn(1, 8, 1, 1, generator=torch.Generator().manual_seed(1))
    w = {name: value.double().numpy() for name, value in block.named_buffers()}
    y = x.double().numpy().ravel()
    z = y / np.sqrt((y**2).mean() + 0.001) * w["norm.weight"]
    wide = z @ w["widen.matrix"]
    wide = wide / (1 + np.exp(-wide)) * (z @ w["gate.matrix"])
    with torch.no_grad():
        found = block(x).numpy().ravel()
    np.testing.assert_allclose(found, y + wide @ w["last.matrix"], rtol=1e-4, atol=1e-5)


def test_a_ladder_is_an_input(raw: ModuleType) -> None:
    board = Board(9, rules=Rules.preset("chinese"))
    # White's stone at D6 has two liberties; Black can catch it in a ladder.
    for move in ("C6", "D6", "D7", "A1", "E5", "A2"):
        board.play(move)
    assert board.turn == BLACK
    planes, _ = inputs_of(raw.positions_of([board]))
    row, col = 9 - 6, 3
    liberties = board.liberties("D6")
    assert liberties == 2 and planes[0, 4, row, col]
    assert planes[0, 14, row, col], "the white stone is caught"
    assert planes[0, 17].any(), "a move catches it"
    assert not planes[0, 14, 9 - 7, 3], "Black's own stone is not"


def test_owners_are_reported_under_area_scoring_only(raw: ModuleType) -> None:
    moves = ("B5", "D5", "B4", "D4", "B3", "D3", "B2", "D2", "B1", "D1")
    for name, told in (("chinese", True), ("japanese", False)):
        board = Board(5, rules=Rules.preset(name))
        for move in moves:
            board.play(move)
        planes, whole = inputs_of(raw.positions_of([board]))
        assert bool(planes[0, 18, :, 0].all()) == told
        assert bool(planes[0, 19, :, 4].all()) == told
        assert not planes[0, 18, :, 2].any(), "nobody owns the middle"
        assert whole[0, 9] == (0 if told else 1)


def test_white_is_given_a_point_for_a_move_ahead_under_territory_scoring(raw: ModuleType) -> None:
    board = Board(9, komi=6.5, rules=Rules.preset("japanese"))
    board.play("E5")
    _, whole = inputs_of(raw.positions_of([board]))
    assert board.turn == WHITE and whole[0, 5] == pytest.approx(7.5 / 20)


def test_rules_become_inputs(raw: ModuleType) -> None:
    assert raw.rule_inputs(Rules.preset("tromp_taylor"))[:2] == [1.0, 0.5]
    assert raw.rule_inputs(Rules.preset("aga"))[:2] == [1.0, -0.5]
    assert raw.rule_inputs(Rules.preset("japanese"))[3:5] == [1.0, 1.0]


def test_what_it_cannot_calculate_is_refused(tmp_path: Path) -> None:
    for before, after, what in (
        ("1 0 1 0 0 0 0 0 0 trunk", "1 1 1 0 0 0 0 0 0 trunk", "rank of people"),
        ("policy_head 2 0 0 0", "policy_head 2 0 1 0", "policy head"),
        ("ACTIVATION_SILU", "ACTIVATION_TANH", "ACTIVATION_TANH"),
    ):
        assert before in TRANSFORMER
        layers = TRANSFORMER.replace(before, after)
        path = write_network(tmp_path / "net.bin.gz", version=17, layers=layers)
        with pytest.raises(ModelError, match=rf"net\.bin\.gz: has .*{what}"):
            Teacher(path)


FAULTS = (
    "version", "short", "no gzip", "missing", "huge", "not a number", "epsilon", "block", "shape"
)  # fmt: skip


@pytest.mark.parametrize("what", FAULTS)
def test_a_bad_file_is_one_clear_error(
    tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_network(tmp_path / "net.bin.gz", version=14 if what == "version" else 8)
    data = gzip.decompress(path.read_bytes())
    if what == "short":
        path.write_bytes(gzip.compress(data[: len(data) // 2]))
    elif what == "no gzip":
        path.write_bytes(b"nothing of the kind")
    elif what == "not a number":
        at = data.index(b"@BIN@") + 5
        path.write_bytes(gzip.compress(data[:at] + b"\xff\xff\xff\xff" + data[at + 4 :]))
    elif what == "missing":
        path.unlink()
    elif what == "huge":
        monkeypatch.setattr(katago, "LARGEST_FILE", 1000)
    elif what == "epsilon":
        path.write_bytes(gzip.compress(data.replace(b"0.001", b"small")))
    elif what == "shape":  # all tensors are there, but one takes fewer channels than it is given
        path.write_bytes(gzip.compress(b"1 1 2 1".join(data.rsplit(b"1 1 4 1", 1))))
    elif what == "block":
        path.write_bytes(gzip.compress(data.replace(b"ordinary_block", b"strange_block")))
    with pytest.raises(ModelError, match=r"net\.bin\.gz") as caught:
        Teacher(path)
    assert "\n" not in str(caught.value)


def _games(count: int, plies: int) -> Shard:
    chance = np.random.default_rng(3)
    moves = [chance.permutation(361)[:plies].astype(np.int16) for _ in range(count)]
    komi, territory = np.full(count, 6.5, np.float32), np.ones(count, np.bool_)
    return Shard.of_moves(19, 19, moves, komi=komi, territory=territory)


def test_games_are_encoded_as_boards_are(raw: ModuleType) -> None:
    shard = _games(2, 30)
    with ThreadPoolExecutor(1) as pool:
        codes, earlier, *others = teacher_arrays(shard, pool)
    board = Board(19, komi=6.5, rules=Rules.preset("japanese"))
    for i in range(30):
        _, _, here, ladders, *rest = raw.positions_of([board])
        assert np.array_equal(here[0], codes[i])
        assert np.array_equal(ladders[0], codes[earlier[i]] & LADDER_BIT > 0)
        assert all(
            np.array_equal(one[0], other[i]) for one, other in zip(rest, others, strict=True)
        )
        board.push(int(shard.moves[i]))


def test_the_temperature_of_each_phase_is_found_again() -> None:
    chance = torch.Generator().manual_seed(1)
    policy = torch.randn(8000, 20, generator=chance).mul(2).softmax(1)
    phase = torch.arange(8000) % 3
    true = torch.tensor([1.5, 1.0, 2.0])
    moves = torch.multinomial(softened(policy, true[phase][:, None]), 1, generator=chance)[:, 0]
    found = fit_temperatures(policy, moves, phase)
    assert found[:3] == pytest.approx(true.tolist(), abs=0.25)
    assert 1.0 < found[3] < 2.0, "a phase without moves takes the temperature of all"


FEW = LabellingSettings(positions=60, chunk=1, games_9x9=4, games_13x13=0, continuations=2)
SMALL = DistillationSettings(design="tiny-judge", steps=4, batch=8, rate=1e-3)


@pytest.fixture(scope="module")
def answers(teacher: Teacher, tmp_path_factory: pytest.TempPathFactory) -> Answers:
    return label([_games(3, 25)], teacher, FEW, tmp_path_factory.mktemp("answers"), threads=1)


def test_answers_are_those_of_the_teacher(answers: Answers, teacher: Teacher) -> None:
    kinds = [(each["kind"], each["rows"]) for each in answers.about]
    assert kinds == [("9x9", 9), ("continued", 19), *[("people", 19)] * 3]
    assert [each["positions"] for each in answers.about[2:]] == [25, 25, 10], "60 in all"
    assert (answers.games, answers.teacher) == (3, teacher.about)
    device = torch.device("cpu")
    for file, each in zip(answers.files, answers.about, strict=True):
        batch = read_answers(file, device)
        assert torch.allclose(batch.policy.float().sum(1), torch.ones(len(batch.codes)), atol=0.01)
        assert ((batch.moves >= 0) == (each["kind"] == "people")).all()
        assert batch.owner.shape == batch.codes.shape == (each["positions"], each["rows"] ** 2)


def test_a_game_of_the_teacher_keeps_the_answers_that_it_gave(teacher: Teacher) -> None:
    with ThreadPoolExecutor(1) as pool:
        labeller = Labeller(teacher, torch.device("cpu"), pool)
        games = TeacherGames(labeller, 6, (9, 9), seed=3).play(12)
        kept = labeller.played(games)
        (asked,) = labeller.answers(games.shard(), len(kept.codes))
    for name in ("codes", "komi", "policy", "winner", "lead", "spread", "owner", "phase"):
        one, other = getattr(kept, name), getattr(asked, name)
        np.testing.assert_allclose(one.float(), other.float(), rtol=0.01, atol=0.01, err_msg=name)
    assert (kept.moves == -1).all()


def test_a_share_of_the_positions_is_labelled(teacher: Teacher, tmp_path: Path) -> None:
    some = replace(FEW, share=0.4, games_9x9=0, continuations=0)
    found = label([_games(3, 25)], teacher, some, tmp_path, threads=1)
    assert 10 < found.positions < 50


def test_a_stopped_labelling_goes_on_where_it_was(
    answers: Answers, teacher: Teacher, tmp_path: Path
) -> None:
    shards, rows = [_games(3, 25)], 0

    def stop(row: dict[str, object]) -> None:
        nonlocal rows
        rows += 1
        if rows == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        label(shards, teacher, FEW, tmp_path, threads=1, on_row=stop)
    assert len(Answers.find([tmp_path]).files) == 3
    again = label(shards, teacher, FEW, tmp_path, threads=1, on_row=stop)
    assert (rows, again.fingerprint) == (5, answers.fingerprint)
    for mine, other in zip(again.files, answers.files, strict=True):
        assert mine.read_bytes() == other.read_bytes()
    with pytest.raises(RunError, match="answers of another teacher, or for other games"):
        label(shards, teacher, replace(FEW, seed=2), tmp_path, threads=1)


def test_a_network_is_taught_and_a_stopped_training_goes_on_exactly(
    answers: Answers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training, "SAVE_SECONDS", 0.0)
    whole = distil(answers, SMALL)
    assert whole["move.weight"].shape[0] == DESIGNS[SMALL.design].move_outputs == 2
    learn, left = Student.learn_from, 2

    def stop(self: Student, *sources: object) -> None:
        nonlocal left
        if not left:
            raise KeyboardInterrupt
        left -= 1
        learn(self, *sources)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Student, "learn_from", stop)
        with Run.open(tmp_path / "run", "network", SMALL) as held:
            distil(answers, SMALL, run=held)
    with Run.open(tmp_path / "run", "network", SMALL, resume=True) as held:
        assert held.start is not None and held.start.step == 2
        again = distil(answers, SMALL, run=held, device="auto")
    for name, array in whole.items():
        assert np.array_equal(again[name], array), name


def test_the_command_teaches_a_network_and_its_card_names_the_teacher(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    net = write_network(tmp_path / "net.bin.gz")
    shards = tmp_path / "games"
    shards.mkdir()
    _games(3, 25).save(shards / "19x19-00000.safetensors")
    small = [
        "train", "network", str(shards), "--positions", "60", "--chunk", "1", "--games-9x9", "4",
        "--games-13x13", "0", "--continuations", "2", "--device", "cpu",
    ]  # fmt: skip
    steps = ["--steps", "3", "--batch", "8", "--design", "tiny-judge"]
    out = tmp_path / "taught.safetensors"
    taught = [*small, *steps, "--run", str(tmp_path / "run"), "--out", str(out)]
    words = [*taught, "--teacher", str(net)]
    assert run([*words, "--teacher-source", "made for a test, MIT", "--json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["games"] == 3
    assert "labelled by the teacher" in said.err and "batch 3/3: best" in said.err
    network = DeepNetwork.load(out)
    assert network.design_ == DESIGNS["tiny-judge"]
    assert network.teacher_ == "test-network (a network of KataGo; made for a test, MIT)"
    assert network.teacher_ in read_card(out).data
    DeepNetwork.average([network, network]).save(tmp_path / "mean.safetensors")
    assert DeepNetwork.load(tmp_path / "mean.safetensors").teacher_ == network.teacher_
    other, kept = tmp_path / "again.safetensors", tmp_path / "kept"
    labelled = [*small, "--teacher", str(net), "--teacher-source", "made for a test, MIT"]
    assert run([*labelled, "--answers-only", "--out", str(kept), "--quiet"]) == 0
    from_kept = ["train", "network", str(kept), *steps, "--device", "cpu", "--quiet"]
    assert run([*from_kept, "--run", str(tmp_path / "from-kept"), "--out", str(other)]) == 0
    again = DeepNetwork.load(other)
    assert again.teacher_ == network.teacher_
    assert all(np.array_equal(again.weights_[k], v) for k, v in network.weights_.items())
    start = ["--start", str(out), "--run", str(tmp_path / "third"), "--out", str(other)]
    assert run([*from_kept, *start]) == 0
    resumed = ["train", "network", str(shards), "--teacher", str(net), "--device", "cpu"]
    resumed += ["--run", str(tmp_path / "run"), "--out", str(out), "--resume", "--quiet"]
    assert run(resumed) == 0
    for name, array in DeepNetwork.load(out).weights_.items():
        assert np.array_equal(array, network.weights_[name])
    capsys.readouterr()
    assert run([*words, "--teacher", str(write_network(tmp_path / "2.bin.gz", seed=2))]) == 1
    assert "answers of another teacher" in capsys.readouterr().err
    for wrong, message in (
        ([*words, "--warm-up", "3"], "--warm-up has no use with --teacher"),
        (taught, "--chunk needs --teacher"),
        ([*small, "--out", str(kept), "--answers-only"], "--answers-only needs --teacher"),
        ([*words, "--design", "tiny"], "design tiny has no output for the best move"),
        ([*words, "--start", "tengen-small"], "another shape than design tiny-judge"),
        ([*words, "--teacher", str(tmp_path)], "not a network of KataGo"),
    ):
        assert run(wrong) == 1
        assert message in capsys.readouterr().err
