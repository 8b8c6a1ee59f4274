"""Networks in the style of other people's projects: attention, recurrence, graphs, flows, adapters, averages.

They are built like those of `tests.networks.models`, and have the same tests, most of which are slow.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from typing import Any

from tests.networks.models import Model


def translator(torch: Any) -> Any:
    """An encoder, and a decoder with attention that gets the right previous words."""
    nn, functional = torch.nn, torch.nn.functional

    class Attention(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, width: int) -> None:
            super().__init__()
            self.mix = nn.Linear(2 * width, width)
            self.score = nn.Linear(width, 1, bias=False)

        def forward(self, state: Any, encoded: Any) -> Any:
            query = state.unsqueeze(1).expand(-1, encoded.size(1), -1)
            energy = torch.tanh(self.mix(torch.cat([query, encoded], dim=2)))
            return functional.softmax(self.score(energy).squeeze(2), dim=1)

    class Decoder(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, words: int, width: int) -> None:
            super().__init__()
            self.embed = nn.Embedding(words, width)
            self.attention = Attention(width)
            self.cell = nn.GRUCell(2 * width, width)
            self.out = nn.Linear(2 * width, words)

        def forward(self, word: Any, state: Any, encoded: Any) -> tuple[Any, Any]:
            weights = self.attention(state, encoded)
            context = torch.bmm(weights.unsqueeze(1), encoded).squeeze(1)
            state = self.cell(torch.cat([self.embed(word), context], -1), state)
            return self.out(torch.cat([state, context], -1)), state

    class Translator(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Embedding(9, 6)
            self.encoder = nn.GRU(6, 6, batch_first=True)
            self.decoder = Decoder(9, 6)

        def forward(self, source: Any, target: Any) -> Any:
            encoded, state = self.encoder(self.embed(source))
            state, told = state[0], []
            for at in range(target.size(1)):
                one, state = self.decoder(target[:, at], state, encoded)
                told.append(one)
            return torch.stack(told, dim=1)

    return Translator()


def relative(torch: Any) -> Any:
    """Attention with a bias for each relative position, from a table."""
    nn = torch.nn

    class Attention(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, width: int, heads: int, length: int) -> None:
            super().__init__()
            self.heads, self.scale = heads, (width // heads) ** -0.5
            self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.table = nn.Parameter(torch.zeros(2 * length - 1, heads))
            nn.init.normal_(self.table, std=0.2)
            place = torch.arange(length)
            self.register_buffer("index", place[:, None] - place[None, :] + length - 1)

        def forward(self, x: Any) -> Any:
            batch, length, width = x.shape
            split = self.qkv(x).reshape(batch, length, 3, self.heads, width // self.heads)
            query, key, value = split.permute(2, 0, 3, 1, 4)
            bias = self.table[self.index.view(-1)].view(length, length, -1).permute(2, 0, 1)
            weights = ((query * self.scale) @ key.transpose(-2, -1) + bias.unsqueeze(0)).softmax(dim=-1)
            return self.proj((weights @ value).transpose(1, 2).reshape(batch, length, width))

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.norm, self.attention, self.drop = nn.LayerNorm(8), Attention(8, 2, 4), nn.Dropout(0.0)

        def forward(self, x: Any) -> Any:
            return x + self.drop(self.attention(self.norm(x)))

    return nn.Sequential(Block(), Block(), nn.Linear(8, 3))


def mobilenet(torch: Any) -> Any:
    """Depthwise convolutions, squeeze and excitation."""
    nn = torch.nn

    class Squeeze(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, channels: int) -> None:
            super().__init__()
            self.pool, self.gate = nn.AdaptiveAvgPool2d(1), nn.Hardsigmoid()
            self.reduce, self.expand = nn.Conv2d(channels, 2, 1), nn.Conv2d(2, channels, 1)

        def forward(self, x: Any) -> Any:
            return x * self.gate(self.expand(torch.relu(self.reduce(self.pool(x)))))

    class Inverted(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, inside: int, outside: int, stride: int) -> None:
            super().__init__()
            self.same, wide = stride == 1 and inside == outside, 2 * inside
            layers = [nn.Conv2d(inside, wide, 1, bias=False), nn.BatchNorm2d(wide), nn.Hardswish()]
            layers += [nn.Conv2d(wide, wide, 3, stride, 1, groups=wide, bias=False), nn.BatchNorm2d(wide)]
            layers += [nn.Hardswish(), Squeeze(wide), nn.Conv2d(wide, outside, 1, bias=False), nn.BatchNorm2d(outside)]
            self.block = nn.Sequential(*layers)

        def forward(self, x: Any) -> Any:
            return x + self.block(x) if self.same else self.block(x)

    class MobileNet(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            stem = nn.Sequential(nn.Conv2d(3, 4, 3, 2, 1, bias=False), nn.BatchNorm2d(4), nn.ReLU6())
            self.features = nn.Sequential(stem, Inverted(4, 4, 1), Inverted(4, 6, 2))
            self.classifier = nn.Sequential(nn.Dropout(0.0), nn.Linear(6, 4))
            for module in self.modules():
                if isinstance(module, nn.Conv2d):
                    nn.init.kaiming_normal_(module.weight, mode="fan_out")
                elif isinstance(module, nn.BatchNorm2d):
                    nn.init.ones_(module.weight)

        def forward(self, x: Any) -> Any:
            return self.classifier(self.features(x).mean([2, 3]))

    return MobileNet()


def towers(torch: Any) -> Any:
    """Nested containers, and containers of parameters."""
    nn = torch.nn

    class Towers(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.towers = nn.ModuleDict()
            for name in ("left", "right"):
                inner = nn.ModuleDict({"one": nn.Linear(6, 6), "other": nn.Linear(6, 6)})
                self.towers[name] = nn.ModuleList([nn.Linear(5, 6), inner])
            halves = {"left": nn.Parameter(torch.ones(6)), "right": nn.Parameter(torch.full((6,), 0.5))}
            self.scales = nn.ParameterDict(halves)
            self.shifts = nn.ParameterList([nn.Parameter(torch.zeros(6)) for _ in range(2)])
            self.head = nn.Linear(12, 3)

        def forward(self, x: Any) -> Any:
            found = []
            for at, (name, tower) in enumerate(self.towers.items()):
                inner = torch.relu(tower[0](x))
                for layer in tower[1].values():
                    inner = inner + torch.tanh(layer(inner))
                found.append(inner * self.scales[name] + self.shifts[at])
            return self.head(torch.cat(found, 1))

    return Towers()


def densenet(torch: Any) -> Any:
    """Layers that are Sequentials, and concatenate their result to their input."""
    nn, functional = torch.nn, torch.nn.functional

    class Layer(nn.Sequential):  # type: ignore[misc, name-defined]
        def __init__(self, inside: int) -> None:
            super().__init__()
            self.add_module("norm", nn.BatchNorm2d(inside))
            self.add_module("relu", nn.ReLU())
            self.add_module("conv", nn.Conv2d(inside, 2, 3, padding=1, bias=False))

        def forward(self, x: Any) -> Any:
            return torch.cat([x, super().forward(x)], 1)

    class DenseNet(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.stem = nn.Conv2d(3, 4, 3, padding=1)
            self.block = nn.Sequential(*[Layer(4 + 2 * number) for number in range(3)])
            self.norm, self.head = nn.BatchNorm2d(10), nn.Linear(10, 3)

        def forward(self, x: Any) -> Any:
            x = functional.relu(self.norm(self.block(self.stem(x))), inplace=True)
            return self.head(torch.flatten(functional.adaptive_avg_pool2d(x, (1, 1)), 1))

    return DenseNet()


def tagger(torch: Any) -> Any:
    """Two bidirectional recurrent layers, and padded words."""
    nn = torch.nn

    class Tagger(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Embedding(10, 6, padding_idx=0)
            self.gru = nn.GRU(6, 5, num_layers=2, bidirectional=True, batch_first=True)
            self.drop, self.out = nn.Dropout(0.0), nn.Linear(10, 4)

        def forward(self, tokens: Any) -> Any:
            states, _ = self.gru(self.embed(tokens))
            return self.out(self.drop(states)) * (tokens != 0).unsqueeze(-1).float()

    return Tagger()


def siamese(torch: Any) -> Any:
    """One encoder for both inputs, and a parameter of rank 0."""
    nn, functional = torch.nn, torch.nn.functional

    class Siamese(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.encoder = nn.Sequential(nn.Linear(6, 8), nn.ELU(), nn.Linear(8, 4))
            self.scale = nn.Parameter(torch.tensor(0.5))

        def forward(self, one: Any, other: Any) -> Any:
            one, other = (functional.normalize(self.encoder(x), dim=-1) for x in (one, other))
            return (one * other).sum(-1) * self.scale.exp(), (one - other).pow(2).sum(-1)

    return Siamese()


def gpt(torch: Any) -> Any:
    """Tied weights, which a method of the class initialises."""
    nn = torch.nn

    class GPT(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.tokens, self.places = nn.Embedding(11, 8), nn.Embedding(6, 8)
            self.norm, self.act = nn.LayerNorm(8), nn.GELU()
            self.up, self.down = nn.Linear(8, 16), nn.Linear(16, 8)
            self.head = nn.Linear(8, 11, bias=False)
            self.head.weight = self.tokens.weight
            self.apply(self._initialise)

        def _initialise(self, module: Any) -> None:
            if isinstance(module, (nn.Linear, nn.Embedding)):
                module.weight.data.normal_(mean=0.0, std=0.3)
            if isinstance(module, nn.Linear) and module.bias is not None:
                module.bias.data.zero_()

        def forward(self, tokens: Any) -> Any:
            _, length = tokens.size()
            x = self.tokens(tokens) + self.places(torch.arange(length, device=tokens.device)).unsqueeze(0)
            return self.head(x + self.down(self.act(self.up(self.norm(x)))))

    return GPT()


def autoencoder(torch: Any) -> Any:
    """An encoder with strides, and a decoder with transposed convolutions."""
    nn = torch.nn

    class AutoEncoder(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            down = [nn.Conv2d(1, 4, 3, stride=2, padding=1), nn.ELU(), nn.Conv2d(4, 6, 3, stride=2, padding=1)]
            self.encode = nn.Sequential(*down, nn.ELU(), nn.Flatten(), nn.Linear(24, 5))
            self.widen = nn.Linear(5, 24)
            up = [nn.ConvTranspose2d(6, 4, 3, stride=2, padding=1, output_padding=1), nn.ELU()]
            self.decode = nn.Sequential(*up, nn.ConvTranspose2d(4, 1, 4, stride=2, padding=1), nn.Sigmoid())

        def forward(self, x: Any) -> Any:
            code = self.encode(x)
            return self.decode(self.widen(code).view(-1, 6, 2, 2)), code

    return AutoEncoder()


def graph_attention(torch: Any) -> Any:
    """Messages along the edges of a graph, summed at their targets."""
    nn, functional = torch.nn, torch.nn.functional

    class Layer(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, inside: int, outside: int) -> None:
            super().__init__()
            self.linear = nn.Linear(inside, outside, bias=False)
            self.weights = nn.Parameter(torch.empty(2 * outside))
            self.shift = nn.Parameter(torch.zeros(outside))
            nn.init.uniform_(self.weights, -0.5, 0.5)

        def forward(self, x: Any, edges: Any) -> Any:
            inner, source, end = self.linear(x), edges[0], edges[1]
            scores = (torch.cat([inner[source], inner[end]], -1) * self.weights).sum(-1)
            scores = functional.leaky_relu(scores, 0.2).exp()
            whole = torch.zeros(x.size(0)).scatter_add(0, end, scores)
            messages = (scores / (whole[end] + 1e-9)).unsqueeze(-1) * inner[source]
            places = end.unsqueeze(-1).expand(-1, inner.size(1))
            return torch.zeros(x.size(0), inner.size(1)).scatter_add(0, places, messages) + self.shift

    class GraphAttention(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = Layer(4, 6), Layer(6, 3)

        def forward(self, x: Any, edges: Any) -> Any:
            return self.second(functional.elu(self.first(x, edges), 1.0), edges)

    return GraphAttention()


def flow(torch: Any) -> Any:
    """Couplings that keep one half and change the other, with the logarithm of the determinant."""
    nn = torch.nn

    class Coupling(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, flipped: bool) -> None:
            super().__init__()
            self.flipped = flipped
            self.net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 4))

        def forward(self, x: Any) -> tuple[Any, Any]:
            kept, changed = x.chunk(2, dim=-1)
            if self.flipped:
                kept, changed = changed, kept
            scale, shift = self.net(kept).chunk(2, dim=-1)
            scale = torch.tanh(scale)
            changed = changed * torch.exp(scale) + shift
            return torch.cat([changed, kept] if self.flipped else [kept, changed], dim=-1), scale.sum(-1)

    class Flow(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.ModuleList([Coupling(number % 2 == 1) for number in range(3)])
            self.register_buffer("mean", torch.zeros(4))

        def forward(self, x: Any) -> Any:
            volume = 0
            for layer in self.layers:
                x, added = layer(x)
                volume = volume + added
            return 0.5 * ((x - self.mean) ** 2).sum(-1) + 2 * math.log(2 * math.pi) - volume

    return Flow()


def temporal(torch: Any) -> Any:
    """Dilated causal convolutions with normalised weights, whose results are cut at the end."""
    nn = torch.nn

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, inside: int, outside: int, dilation: int) -> None:
            super().__init__()
            self.cut = 2 * dilation
            self.conv = nn.utils.weight_norm(nn.Conv1d(inside, outside, 3, padding=self.cut, dilation=dilation))
            self.relu = nn.ReLU()
            self.down = nn.Conv1d(inside, outside, 1) if inside != outside else None

        def forward(self, x: Any) -> Any:
            inner = self.relu(self.conv(x)[:, :, : -self.cut].contiguous())
            return self.relu(inner + (x if self.down is None else self.down(x)))

    return nn.Sequential(Block(2, 4, 1), Block(4, 4, 2))


def adapted(torch: Any) -> Any:
    """Frozen layers, each with a small trained layer beside it."""
    nn = torch.nn

    class Adapted(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, base: Any) -> None:
            super().__init__()
            self.base = base
            for parameter in self.base.parameters():
                parameter.requires_grad = False
            self.down = nn.Parameter(torch.empty(2, base.in_features))
            self.up = nn.Parameter(torch.zeros(base.out_features, 2))
            nn.init.kaiming_uniform_(self.down, a=math.sqrt(5))
            nn.init.normal_(self.up)

        def forward(self, x: Any) -> Any:
            return self.base(x) + (x @ self.down.T @ self.up.T) * 2.0

    class Net(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Sequential(nn.Linear(5, 6), nn.ReLU(), nn.Linear(6, 3))
            for name, module in list(self.body.named_children()):
                if isinstance(module, nn.Linear):
                    setattr(self.body, name, Adapted(module))

        def forward(self, x: Any) -> Any:
            return self.body(x)

    return Net()


def averaged(torch: Any) -> Any:
    """A copy of a network with the moving average of its weights, in a decorated method."""
    nn = torch.nn

    class Averaged(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.online = nn.Sequential(nn.Linear(5, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 3))
            self.target = copy.deepcopy(self.online)
            for parameter in self.target.parameters():
                parameter.requires_grad_(False)

        @torch.no_grad()  # type: ignore[untyped-decorator]
        def follow(self, kept: float = 0.9) -> None:
            for own, other in zip(self.online.parameters(), self.target.parameters(), strict=True):
                other.data.mul_(kept).add_(own.data * (1 - kept))

        def forward(self, x: Any) -> Any:
            shown = self.online(x)
            with torch.no_grad():
                wanted = self.target(x + 1)
            self.follow()
            return ((shown - wanted.detach()) ** 2).mean(-1)

    return Averaged()


FURTHER_MODELS: Mapping[str, Model] = {
    "translator": translator,
    "relative": relative,
    "mobilenet": mobilenet,
    "towers": towers,
    "densenet": densenet,
    "tagger": tagger,
    "siamese": siamese,
    "gpt": gpt,
    "autoencoder": autoencoder,
    "graph_attention": graph_attention,
    "flow": flow,
    "temporal": temporal,
    "adapted": adapted,
    "averaged": averaged,
}
FURTHER_INPUTS: Mapping[str, tuple[Any, ...]] = {
    "translator": (((2, 4), 9), ((2, 3), 9)),
    "relative": ((2, 4, 8),),
    "mobilenet": ((2, 3, 8, 8),),
    "towers": ((3, 5),),
    "densenet": ((2, 3, 6, 6),),
    "tagger": (((2, 5), 10),),
    "siamese": ((3, 6), (3, 6)),
    "gpt": (((2, 5), 11),),
    "autoencoder": ((2, 1, 8, 8),),
    "graph_attention": ((5, 4), ((2, 9), 5)),
    "flow": ((3, 4),),
    "temporal": ((2, 2, 7),),
    "adapted": ((3, 5),),
    "averaged": ((4, 5),),
}
