"""Makes a pair of models with one tokenizer from a single small GGUF: itself as the draft, and a deeper one as the target.

No pair of small models that share a tokenizer is at hand as a package, and a model with layers cut out drafts nothing usable.
The other way round works: the target is the same model with every block followed by copies of itself whose two writes to the
residual stream are scaled by WEAKNESS. At 0 the target computes what the draft does and accepts everything; the larger it is,
the more they differ. The target's text stays coherent, and it costs (copies + 1) times as much a token.

Weights in Q4_1 are stored anew as Q4_0, which llama.cpp repacks so that verifying a batch is cheap.

    python tools/real/gguf_pair.py IN.gguf OUT_FOLDER --copies 2 --weakness 0.05
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType, GGUFReader, GGUFValueType, GGUFWriter
from gguf.quants import dequantize, quantize

Q4_0_BLOCK_BYTES = 18  # a scale in half precision, then 32 weights of 4 bits
FILE_TYPE_Q4_0 = 2
WRITES = ("attn_output.weight", "ffn_down.weight")


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor as it lies in the file."""

    name: str
    data: np.ndarray
    kind: GGMLQuantizationType


def main() -> None:
    """Write draft.gguf and target.gguf; a file that is there already is left alone."""
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--copies", type=int, default=2)
    parser.add_argument("--weakness", type=float, default=0.05)
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    wanted = {"draft.gguf": 0, "target.gguf": asked.copies}
    missing = {name: copies for name, copies in wanted.items() if not (asked.folder / name).exists()}
    if not missing:
        return
    reader = GGUFReader(asked.source)
    tensors = [as_q4_0(Tensor(t.name, t.data, t.tensor_type)) for t in reader.tensors]
    for name, copies in missing.items():
        unfinished = asked.folder / f"{name}.part"
        write(unfinished, reader, list(deepened(tensors, copies, asked.weakness)), copies + 1)
        unfinished.rename(asked.folder / name)


def as_q4_0(tensor: Tensor) -> Tensor:
    """The tensor, in Q4_0 if it was in Q4_1."""
    if tensor.kind != GGMLQuantizationType.Q4_1:
        return tensor
    kind = GGMLQuantizationType.Q4_0
    return Tensor(tensor.name, quantize(dequantize(tensor.data, tensor.kind), kind), kind)


def deepened(tensors: list[Tensor], copies: int, weakness: float) -> Iterator[Tensor]:
    """The tensors with `copies` weakened copies after each block, blocks numbered anew."""
    for tensor in tensors:
        if not tensor.name.startswith("blk."):
            yield tensor
            continue
        _, number, part = tensor.name.split(".", 2)
        for copy in range(copies + 1):
            data = scaled(tensor, weakness) if copy and part in WRITES else tensor.data
            yield Tensor(f"blk.{int(number) * (copies + 1) + copy}.{part}", data, tensor.kind)


def scaled(tensor: Tensor, factor: float) -> np.ndarray:
    """The weights times `factor`; in Q4_0 that is the scale of each block."""
    if tensor.kind != GGMLQuantizationType.Q4_0:
        raise SystemExit(f"gguf_pair.py: {tensor.name} is stored as {tensor.kind.name}; only Q4_0 and Q4_1 can be scaled")
    blocks = np.array(tensor.data, dtype=np.uint8).reshape(-1, Q4_0_BLOCK_BYTES)
    scales = blocks[:, :2].copy().view(np.float16)
    blocks[:, :2] = (scales * np.float16(factor)).view(np.uint8)
    return blocks.reshape(tensor.data.shape)


def write(path: Path, reader: GGUFReader, tensors: list[Tensor], depth: int) -> None:
    """A GGUF with the source's metadata, but for its depth and the storage of its weights."""
    architecture = str(reader.fields["general.architecture"].contents())
    changed = {
        f"{architecture}.block_count": reader.fields[f"{architecture}.block_count"].contents() * depth,
        "general.file_type": FILE_TYPE_Q4_0,
    }
    writer = GGUFWriter(path, architecture)
    for key, field in reader.fields.items():
        if key.startswith("GGUF.") or key == "general.architecture":
            continue
        kind = field.types[0]
        inner = field.types[-1] if kind == GGUFValueType.ARRAY else None
        writer.add_key_value(key, changed.get(key, field.contents()), kind, sub_type=inner)
    for tensor in tensors:
        writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
