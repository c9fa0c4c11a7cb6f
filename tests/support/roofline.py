"""What the page on the roofline says beside the engine's own arithmetic."""

from specbench.engine.timing.roofline import Accelerator, Transformer


def ridge_tokens(accelerator: Accelerator, model: Transformer) -> float:
    """Tokens in a pass at which the layers stop being bound by memory: from there on, verifying is no longer free."""
    arithmetic = 2 * model.body_parameters / (accelerator.flops_per_s * accelerator.compute_efficiency)
    reading = model.body_parameters * model.body_bytes_each / (accelerator.bytes_per_s * accelerator.bandwidth_efficiency)
    return reading / arithmetic
