"""Register the environments when Gymnasium is imported; loads no board."""

SIZES = (5, 7, 9, 13, 19)
"""Boards with an id, `Tengen/Go{size}x{size}-v0`."""


def register_environments() -> None:
    """Register the ids of all boards, once."""
    from gymnasium import register, registry

    for size in SIZES:
        name = f"Tengen/Go{size}x{size}-v0"
        if name not in registry:
            register(
                name,
                entry_point="tengen.environment:GoEnv",
                vector_entry_point="tengen.environment:GoVectorEnv",
                kwargs={"size": size},
            )
