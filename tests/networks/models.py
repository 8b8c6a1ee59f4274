"""Networks of a few thousand parameters, written for any namespace with torch's names.

Each function takes the namespace (the dual one, torch, OneFlow) and returns a new network. `INPUTS` says what to call
it with: shapes of floating inputs, or the number of classes of whole ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

Model = Callable[[Any], Any]


def mlp(torch: Any) -> Any:
    nn = torch.nn

    class MLP(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(8, 16), nn.Linear(16, 16), nn.Linear(16, 4)])
            self.norm = nn.LayerNorm(16)
            self.act = nn.GELU()

        def forward(self, x: Any) -> Any:
            for layer in self.layers[:-1]:
                x = self.act(self.norm(layer(x)))
            return torch.log_softmax(self.layers[-1](x), dim=-1)

    return MLP()


def lenet(torch: Any) -> Any:
    nn = torch.nn

    class LeNet(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.features = nn.Sequential(
                nn.Conv2d(1, 4, 3, padding=1),
                nn.Tanh(),
                nn.AvgPool2d(2),
                nn.Conv2d(4, 8, 3),
                nn.Tanh(),
                nn.AvgPool2d(2),
            )
            self.classifier = nn.Sequential(nn.Linear(32, 24), nn.Tanh(), nn.Linear(24, 5))

        def forward(self, x: Any) -> Any:
            x = self.features(x)
            return self.classifier(torch.flatten(x, 1))

    return LeNet()


def resnet(torch: Any) -> Any:
    nn = torch.nn

    class BasicBlock(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, inside: int, outside: int, stride: int) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(inside, outside, 3, stride=stride, padding=1, bias=False)
            self.bn1 = nn.BatchNorm2d(outside)
            self.relu = nn.ReLU()
            self.conv2 = nn.Conv2d(outside, outside, 3, padding=1, bias=False)
            self.bn2 = nn.BatchNorm2d(outside)
            self.downsample = None
            if stride != 1 or inside != outside:
                self.downsample = nn.Sequential(
                    nn.Conv2d(inside, outside, 1, stride=stride, bias=False), nn.BatchNorm2d(outside)
                )

        def forward(self, x: Any) -> Any:
            identity = x if self.downsample is None else self.downsample(x)
            out = self.relu(self.bn1(self.conv1(x)))
            return self.relu(self.bn2(self.conv2(out)) + identity)

    class ResNet(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(3, 4, 3, padding=1, bias=False)
            self.bn1 = nn.BatchNorm2d(4)
            self.relu = nn.ReLU()
            widths = [(4, 4, 1), (4, 6, 2), (6, 8, 2), (8, 8, 1)]
            for number, (inside, outside, stride) in enumerate(widths, 1):
                blocks = [BasicBlock(inside, outside, stride), BasicBlock(outside, outside, 1)]
                setattr(self, f"layer{number}", nn.Sequential(*blocks))
            self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
            self.fc = nn.Linear(8, 5)

        def forward(self, x: Any) -> Any:
            x = self.relu(self.bn1(self.conv1(x)))
            x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
            return self.fc(torch.flatten(self.avgpool(x), 1))

    return ResNet()


def unet(torch: Any) -> Any:
    nn = torch.nn

    class DoubleConv(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, inside: int, outside: int) -> None:
            super().__init__()
            self.body = nn.Sequential(
                nn.Conv2d(inside, outside, 3, padding=1), nn.GroupNorm(2, outside), nn.SiLU(),
                nn.Conv2d(outside, outside, 3, padding=1), nn.ReLU(),
            )  # fmt: skip

        def forward(self, x: Any) -> Any:
            return self.body(x)

    class UNet(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.down1, self.down2 = DoubleConv(1, 4), DoubleConv(4, 8)
            self.pool = nn.MaxPool2d(2)
            self.bottom = DoubleConv(8, 8)
            self.up2, self.up1 = nn.ConvTranspose2d(8, 8, 2, stride=2), nn.ConvTranspose2d(8, 4, 2, stride=2)
            self.merge2, self.merge1 = DoubleConv(16, 8), DoubleConv(8, 4)
            self.head = nn.Conv2d(4, 2, 1)

        def forward(self, x: Any) -> Any:
            first = self.down1(x)
            second = self.down2(self.pool(first))
            x = self.up2(self.bottom(self.pool(second)))
            x = self.merge2(torch.cat([second, x], dim=1))
            x = self.merge1(torch.cat([first, self.up1(x)], dim=1))
            return self.head(x)

    return UNet()


def language_model(torch: Any) -> Any:
    nn = torch.nn

    class LanguageModel(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(12, 8)
            self.lstm = nn.LSTM(8, 8, batch_first=True)
            self.norm = nn.LayerNorm(8)
            self.decoder = nn.Linear(8, 12, bias=False)
            self.decoder.weight = self.embedding.weight

        def forward(self, tokens: Any) -> Any:
            states, _ = self.lstm(self.embedding(tokens))
            return self.decoder(self.norm(states))

    return LanguageModel()


def _attention(torch: Any) -> Any:
    nn = torch.nn

    class Attention(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, width: int, heads: int) -> None:
            super().__init__()
            self.heads, self.size = heads, width // heads
            self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
            self.out = nn.Linear(width, width)

        def split(self, x: Any) -> Any:
            return x.reshape(x.shape[0], x.shape[1], self.heads, self.size).permute(0, 2, 1, 3)

        def forward(self, x: Any, memory: Any, mask: Any = None) -> Any:
            query, key, value = self.split(self.query(x)), self.split(self.key(memory)), self.split(self.value(memory))
            scores = torch.matmul(query, key.permute(0, 1, 3, 2)) / math.sqrt(self.size)
            if mask is not None:
                scores = scores.masked_fill(mask, -1e4)
            mixed = torch.matmul(torch.softmax(scores, dim=-1), value).permute(0, 2, 1, 3)
            return self.out(mixed.reshape(x.shape[0], x.shape[1], self.heads * self.size))

    return Attention


def _encoder_layer(torch: Any) -> Any:
    nn, attention = torch.nn, _attention(torch)

    class EncoderLayer(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, width: int) -> None:
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.attention = attention(width, 2)
            self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

        def forward(self, x: Any, mask: Any = None) -> Any:
            inner = self.norm1(x)
            x = x + self.attention(inner, inner, mask)
            return x + self.mlp(self.norm2(x))

    return EncoderLayer


def encoder(torch: Any) -> Any:
    nn, layer = torch.nn, _encoder_layer(torch)

    class Encoder(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.ModuleList([layer(8) for _ in range(2)])
            self.norm = nn.LayerNorm(8)

        def forward(self, x: Any) -> Any:
            for one in self.layers:
                x = one(x)
            return self.norm(x)

    return Encoder()


def decoder(torch: Any) -> Any:
    nn, attention = torch.nn, _attention(torch)

    class DecoderLayer(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, width: int) -> None:
            super().__init__()
            self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(width) for _ in range(3))
            self.own, self.cross = attention(width, 2), attention(width, 2)
            self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))

        def forward(self, x: Any, memory: Any, mask: Any) -> Any:
            inner = self.norm1(x)
            x = x + self.own(inner, inner, mask)
            x = x + self.cross(self.norm2(x), memory)
            return x + self.mlp(self.norm3(x))

    class Decoder(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.ModuleList([DecoderLayer(8) for _ in range(2)])
            self.register_buffer("mask", torch.triu(torch.ones(4, 4), 1).to(torch.bool))

        def forward(self, x: Any, memory: Any) -> Any:
            for layer in self.layers:
                x = layer(x, memory, self.mask)
            return x

    return Decoder()


def vit(torch: Any) -> Any:
    nn, layer = torch.nn, _encoder_layer(torch)

    class ViT(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.patch = nn.Conv2d(3, 8, 4, stride=4)
            self.token = nn.Parameter(torch.zeros(1, 1, 8))
            self.position = nn.Parameter(torch.ones(1, 5, 8) * 0.1)
            self.blocks = nn.Sequential(layer(8), layer(8))
            self.norm = nn.LayerNorm(8)
            self.head = nn.Linear(8, 5)

        def forward(self, x: Any) -> Any:
            patches = torch.flatten(self.patch(x), 2).permute(0, 2, 1)
            token = self.token.expand(patches.shape[0], -1, -1)
            x = self.blocks(torch.cat([token, patches], dim=1) + self.position)
            return self.head(self.norm(x)[:, 0])

    return ViT()


def vae(torch: Any) -> Any:
    nn = torch.nn

    class VAE(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.encode = nn.Sequential(nn.Linear(8, 12), nn.ReLU())
            self.mean, self.deviation = nn.Linear(12, 3), nn.Linear(12, 3)
            self.decode = nn.Sequential(nn.Linear(3, 12), nn.ReLU(), nn.Linear(12, 8), nn.Sigmoid())

        def forward(self, x: Any, noise: Any) -> Any:
            hidden = self.encode(x)
            mean, deviation = self.mean(hidden), self.deviation(hidden)
            shown = self.decode(mean + torch.exp(0.5 * deviation) * noise)
            divergence = -0.5 * (1 + deviation - mean * mean - torch.exp(deviation)).sum(-1)
            return shown, divergence

    return VAE()


def experts(torch: Any) -> Any:
    nn = torch.nn

    class Expert(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.up, self.down = nn.Linear(6, 12), nn.Linear(12, 6)

        def forward(self, x: Any) -> Any:
            return self.down(torch.relu(self.up(x)))

    class Mixture(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.gate = nn.Linear(6, 3)
            self.experts = nn.ModuleList([Expert() for _ in range(3)])
            self.norm = nn.LayerNorm(6)

        def forward(self, x: Any) -> Any:
            weights = torch.softmax(self.gate(x), dim=-1)
            rows = []
            for row in range(x.shape[0]):
                best = int(torch.argmax(weights[row]))
                # A matrix of one row, because OneFlow 0.9.0 has no Linear of a vector.
                rows.append(weights[row, best] * self.experts[best](x[row : row + 1]))
            return self.norm(torch.cat(rows) + x)

    return Mixture()


def generator(torch: Any) -> Any:
    nn = torch.nn

    class Generator(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Sequential(nn.Linear(4, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Linear(12, 6), nn.Tanh())

        def forward(self, noise: Any) -> Any:
            return self.body(noise)

    return Generator()


def discriminator(torch: Any) -> Any:
    nn = torch.nn

    class Discriminator(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.hidden, self.out = nn.Linear(6, 12), nn.Linear(12, 1)
            self.act = nn.LeakyReLU(0.2)

        def forward(self, x: Any) -> Any:
            return self.out(self.act(self.hidden(x)))

    return Discriminator()


def gan(torch: Any) -> Any:
    nn = torch.nn

    class Gan(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.generator, self.discriminator = generator(torch), discriminator(torch)

        def forward(self, noise: Any, shown: Any) -> Any:
            return self.discriminator(self.generator(noise)), self.discriminator(shown)

    return Gan()


MODELS: Mapping[str, Model] = {
    "mlp": mlp,
    "lenet": lenet,
    "resnet": resnet,
    "unet": unet,
    "language_model": language_model,
    "encoder": encoder,
    "decoder": decoder,
    "vit": vit,
    "vae": vae,
    "experts": experts,
    "gan": gan,
}
#: The inputs of each model: shapes of floating inputs, and ``(shape, classes)`` for integers.
INPUTS: Mapping[str, tuple[Any, ...]] = {
    "mlp": ((5, 8),),
    "lenet": ((2, 1, 12, 12),),
    "resnet": ((4, 3, 8, 8),),
    "unet": ((2, 1, 8, 8),),
    "language_model": (((2, 6), 12),),
    "encoder": ((2, 4, 8),),
    "decoder": ((2, 4, 8), (2, 3, 8)),
    "vit": ((2, 3, 8, 8),),
    "vae": ((3, 8), (3, 3)),
    "experts": ((4, 6),),
    "gan": ((5, 4), (5, 6)),
}
