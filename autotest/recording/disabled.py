"""Objects that do nothing on a CPU, and so are plain Python on both sides: a disabled gradient scaler."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from autotest.base.errors import UsageError


class GradScaler:
    """The dual ``cuda.amp.GradScaler(enabled=False)``: returns losses unchanged, and steps are the optimizer's own.

    The arguments are torch's, in its order.
    """

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        if enabled:
            raise UsageError(
                "GradScaler: expected enabled=False, because each side would choose its own scale, which cannot be "
                "compared; or omit the scaler: loss.backward() and optimizer.step()"
            )

    def scale(self, outputs: Any) -> Any:
        return outputs

    def unscale_(self, optimizer: Any) -> None:
        pass

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale: Any = None) -> None:
        pass

    def is_enabled(self) -> bool:
        return False

    def get_scale(self) -> float:
        return 1.0

    def state_dict(self) -> dict[str, Any]:
        return {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        pass


class DeviceGradScaler(GradScaler):
    """The dual ``amp.GradScaler(enabled=False)``, which has the device before the other arguments."""

    def __init__(self, device: str = "cuda", *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)


#: Path below ``torch`` -> plain object that replaces the framework's.
PLAIN: Mapping[str, type] = MappingProxyType({"cuda.amp.GradScaler": GradScaler, "amp.GradScaler": DeviceGradScaler})
