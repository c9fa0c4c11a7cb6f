"""The pair of `gguf_pair.py` once more, as folders of safetensors that vLLM serves: the GGUF unpacked, and a deeper target.

Runs in the environment of vLLM, which brings torch, transformers and (by tools/real/vllm) gguf and accelerate.

    python tools/real/hf_pair.py IN.gguf OUT_FOLDER --copies 2 --weakness 0.05
"""

import argparse
import json
import shutil
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils.quantization_config import GgufConfig

WRITES = ("self_attn.o_proj.weight", "mlp.down_proj.weight")
WEIGHTS = "model.safetensors"
LAYER = "model.layers."
# What a model that came out of a GGUF remembers of it; with any of it left, it refuses to be saved as plain weights.
_MEMORIES = ("quantization_method", "is_quantized", "quantization_config", "_pre_quantization_dtype")


def main() -> None:
    """Write draft-hf and target-hf; a folder that is there already is left alone."""
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--copies", type=int, default=2)
    parser.add_argument("--weakness", type=float, default=0.05)
    asked = parser.parse_args()
    draft, target = asked.folder / "draft-hf", asked.folder / "target-hf"
    for folder, make in (
        (draft, lambda to: unpack(asked.source, to)),
        (target, lambda to: deepen(draft, to, asked.copies, asked.weakness)),
    ):
        if not folder.exists():
            unfinished = folder.with_name(f"{folder.name}.part")
            shutil.rmtree(unfinished, ignore_errors=True)
            make(unfinished)
            unfinished.rename(folder)


def unpack(source: Path, to: Path) -> None:
    """The GGUF's weights in 16 bits with its tokenizer."""
    where = {"pretrained_model_name_or_path": source.parent, "gguf_file": source.name}
    model = AutoModelForCausalLM.from_pretrained(**where, dtype=torch.bfloat16, quantization_config=GgufConfig(dequantize=True))
    model.hf_quantizer = None
    for holder in (model, model.config):
        for name in _MEMORIES:
            vars(holder).pop(name, None)
    model.save_pretrained(to)
    AutoTokenizer.from_pretrained(**where).save_pretrained(to)


def deepen(draft: Path, to: Path, copies: int, weakness: float) -> None:
    """The draft with weakened copies after each layer."""
    shutil.copytree(draft, to, ignore=shutil.ignore_patterns("*.safetensors"))
    config = json.loads((draft / "config.json").read_text())
    config["num_hidden_layers"] *= copies + 1
    (to / "config.json").write_text(json.dumps(config, indent=2))
    deeper: dict[str, torch.Tensor] = {}
    for name, weights in load_file(draft / WEIGHTS).items():
        if not name.startswith(LAYER):
            deeper[name] = weights
            continue
        number, part = name.removeprefix(LAYER).split(".", 1)
        for copy in range(copies + 1):
            factor = weakness if copy and part in WRITES else 1.0
            deeper[f"{LAYER}{int(number) * (copies + 1) + copy}.{part}"] = (weights * factor).contiguous()
    save_file(deeper, to / WEIGHTS, metadata={"format": "pt"})


if __name__ == "__main__":
    main()
