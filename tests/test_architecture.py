"""Enforces the architecture: the order of imports, and where state and printing are allowed.

Each rule is a function of a file's path and text that returns its violations. The second half of this
file plants a violation of every rule, which must be found. A new package of `autotest/` must be added to `ROOMS`.
"""

from __future__ import annotations

import ast
import functools
import itertools
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT: Final = Path(__file__).parent.parent

#: The packages of `autotest/`, lowest first. Each may import itself and the packages on its left.
ROOMS: Final = (
    "base program comparison results emission report frameworks recording replaying gradients sources trials "
    "processes diagnosis aligning storage running sweeping campaigns clusters decorator __init__ torch pytest_plugin "
    "cli oneflow __main__"
).split()
RANK: Final = {name: rank for rank, name in enumerate(ROOMS)}
#: The modules directly in `autotest/`.
FILES: Final = ("__init__", "__main__", "decorator", "torch")

#: The only packages that may import a framework, and the only ones that may print.
DOORS_TO_FRAMEWORKS: Final = ("frameworks", "oneflow")
DOORS_TO_PEOPLE: Final = ("cli", "pytest_plugin", "__main__")
CANDIDATES: Final = ("oneflow", "paddle", "mlx", "jax", "mindspore", "tinygrad", "onnxruntime")
#: The file with the default candidate.
NAMES_THE_DEFAULT: Final = "autotest/base/options.py"
FRAMEWORKS: Final = ("torch", "tensorflow", *CANDIDATES)
#: The files that may read the frameworks of a run from the environment: entry points, the decorator, code outside of
#: trials, and the functions with which processes begin. All other code receives a pair.
ASKS_THE_ENVIRONMENT: Final = (
    "autotest/aligning/alignment.py",
    "autotest/campaigns/worker.py",
    "autotest/clusters/agent.py",
    "autotest/clusters/packing.py",
    "autotest/decorator.py",
    "autotest/diagnosis/shrinking/probing.py",
    "autotest/frameworks/__init__.py",
    "autotest/frameworks/registry.py",
    "autotest/processes/server.py",
    "autotest/recording/outside_trials.py",
    "autotest/sources/importing.py",
    "autotest/sweeping/explaining.py",
    "autotest/sweeping/preload.py",
    "autotest/sweeping/worker.py",
)
ASKING: Final = (
    "chosen_pair",
    "chosen_names",
    "chosen_pairs",
    "all_chosen_names",
    "from_environment",
    "environment_now",
    "active_project",
    "configured",
    "configured_imports",
    "working_project",
)

#: The files that read or change variables of the process: those of options, those that start processes or begin in
#: one, and adapters whose framework is told by a variable. All other code receives options.
READS_VARIABLES: Final = (
    "autotest/base/environment.py",
    "autotest/base/options.py",
    "autotest/clusters/agent.py",
    "autotest/clusters/packing.py",
    "autotest/frameworks/harvester/injected/sitecustomize.py",
    "autotest/frameworks/harvester/whole_process.py",
    "autotest/frameworks/harvesting.py",
    "autotest/frameworks/jax.py",
    "autotest/frameworks/remote/peer.py",
    "autotest/frameworks/oneflow_import.py",
    "autotest/frameworks/registry.py",
    "autotest/frameworks/tinygrad.py",
    "autotest/frameworks/torch_compile.py",
    "autotest/frameworks/torch_errors.py",
    "autotest/processes/child.py",
    "autotest/processes/client.py",
    "autotest/processes/fresh.py",
    "autotest/processes/prepared.py",
)
#: The other files that write to the standard streams: of a process that was started, and of a run without pytest.
WRITES_TO_STREAMS: Final = (
    "autotest/decorator.py",
    "autotest/frameworks/harvester/calls_file.py",
    "autotest/frameworks/harvester/injected/sitecustomize.py",
    "autotest/oneflow/profiler.py",
    "autotest/oneflow/torch_flow_dual_object.py",
    "autotest/processes/child.py",
)

#: Packages of pure functions: they may import NumPy, and nothing that reads files or starts processes.
PURE: Final = "program comparison emission".split()
OUTSIDE: Final = frozenset(
    "asyncio glob logging multiprocessing os pathlib shutil socket subprocess tempfile threading".split()
)

LONGEST: Final = 400
#: `Array` is a recorded array in Programs, and NumPy's array in the generators, which do not use Programs.
MEANS_TWO_THINGS: Final = ("Array",)
#: The brackets prevent that the pattern matches itself.
PLACES: Final = re.compile(r"p[y]pi[.]org|python[h]osted|/r[o]ot/|/w[o]rk/|/t[m]p/|/h[o]me/")

MAKES_MUTABLE: Final = frozenset(
    "list dict set bytearray defaultdict Counter deque OrderedDict ChainMap count "
    "WeakKeyDictionary WeakValueDictionary WeakSet".split()
)
CHANGES: Final = frozenset(
    "append extend insert remove pop clear sort reverse add discard update setdefault popitem "
    "appendleft popleft subtract".split()
)


# -- reading a file -----------------------------------------------------------------------------------------


def package_of(file: str) -> str:
    return file.partition("/")[0]


def room_of(file: str) -> str:
    """Return the package of a file of `autotest/`; for a file at the top, its own name."""
    return file.split("/")[1].removesuffix(".py")


@functools.lru_cache(maxsize=1)
def every(tree: ast.AST) -> tuple[ast.AST, ...]:
    """Return all nodes of a tree. They are cached, because several rules need them."""
    return tuple(ast.walk(tree))


@functools.lru_cache(maxsize=1)
def imported(file: str, tree: ast.AST) -> tuple[tuple[int, str], ...]:
    """Return line and absolute dotted name of every import, also inside of functions and by `import_module("name")`.

    They are cached like the nodes.
    """
    return (*_imported(file, tree),)


def _imported(file: str, tree: ast.AST) -> Iterator[tuple[int, str]]:
    importing = {"import_module", "__import__"} | {
        alias.asname
        for node in every(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "importlib"
        for alias in node.names
        if alias.asname
    }
    # One in ten nodes may be an import. To match the others against each pattern would take most of the time.
    for node in (node for node in every(tree) if isinstance(node, ast.Import | ast.ImportFrom | ast.Call)):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                base = file.split("/")[:-level] if level else []
                yield from ((node.lineno, ".".join([*base, *filter(None, [module]), alias.name])) for alias in names)
            case ast.Call(func=called, args=args, keywords=keywords) if last_name(called) in importing:
                given = [*args, *(keyword.value for keyword in keywords if keyword.arg == "name")]
                if name := text_of(given[0] if given else called):
                    level = len(name) - len(name.lstrip("."))
                    yield node.lineno, ".".join([*(file.split("/")[:-level] if level else []), name.lstrip(".")])


def text_of(node: ast.expr) -> str:
    """Return the text of a constant, and the constant beginning of a formatted one; empty for anything else."""
    first = node.values[0] if isinstance(node, ast.JoinedStr) and node.values else node
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""


def top_level(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements that run when the module is imported, also those in `if`, `try` and `with`."""
    for node in body:
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for field in ("body", "orelse", "finalbody"):
                yield from top_level(getattr(node, field, []))
            for handler in getattr(node, "handlers", []):
                yield from top_level(handler.body)


def last_name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


# -- the rules ----------------------------------------------------------------------------------------------


def order(file: str, tree: ast.Module) -> Iterator[str]:
    if package_of(file) != "autotest":
        return
    here = room_of(file)
    if here not in RANK:
        yield f"{file}: {here!r} is no room; add it to ROOMS in tests/test_architecture.py"
        return
    if file.count("/") == 1 and here not in FILES:
        yield f"{file}: only {', '.join(FILES)} stand at the top level; put it into a room"
    for line, name in imported(file, tree):
        package, _, rest = name.partition(".")
        if package != "autotest":
            continue
        # `from autotest import torch`: a name that is not a file of the package is exported by its `__init__`.
        there = rest.partition(".")[0] if rest.partition(".")[0] in RANK else "__init__"
        if RANK[there] > RANK[here]:
            yield f"{file}:{line}: {here} imports {name}, which stands to its right in ROOMS"


def dependencies(file: str, tree: ast.Module) -> Iterator[str]:
    inside_door = package_of(file) == "autotest" and room_of(file) in DOORS_TO_FRAMEWORKS
    pure = package_of(file) == "autotest" and room_of(file) in PURE
    for line, name in imported(file, tree):
        package = name.split(".")[0]
        if package in FRAMEWORKS and not inside_door:
            yield f"{file}:{line}: imports {package} outside of autotest/frameworks and autotest/oneflow"
        elif package_of(file) == "generators" and package not in {*sys.stdlib_module_names, "numpy", "generators"}:
            yield f"{file}:{line}: generators/ imports {package}; the standard library and NumPy are all it may use"
        elif pure and package in OUTSIDE:
            yield f"{file}:{line}: a pure part imports {package}, which reaches outside of the process's data"
        elif pure and package not in {*sys.stdlib_module_names, "numpy", "generators", "autotest"}:
            yield f"{file}:{line}: a pure part imports {package}; the standard library and NumPy are all it may use"


def candidates(file: str, tree: ast.Module) -> Iterator[str]:
    """Code must not contain the name of a candidate, so that nothing depends on which one it is."""
    if package_of(file) != "autotest" or room_of(file) in DOORS_TO_FRAMEWORKS or file == NAMES_THE_DEFAULT:
        return
    for node in every(tree):
        if isinstance(node, ast.Constant) and node.value in CANDIDATES:
            yield f"{file}:{node.lineno}: names the candidate {node.value!r}; only autotest/frameworks may"


def environment(file: str, tree: ast.Module) -> Iterator[str]:
    """Only entry points read frameworks and options from the environment, and pass them down."""
    doors = (*DOORS_TO_PEOPLE, "oneflow")
    if package_of(file) != "autotest" or room_of(file) in doors:
        return
    names = [(line, name.rpartition(".")[2]) for line, name in imported(file, tree)]
    asked = [*names, *((node.lineno, node.attr) for node in every(tree) if isinstance(node, ast.Attribute))]
    for line, name in asked:
        if name in ASKING and file not in (*ASKS_THE_ENVIRONMENT, NAMES_THE_DEFAULT):
            yield f"{file}:{line}: asks the environment by {name}; what it needs is to be handed down"
        if name in ("environ", "environb", "getenv", "putenv") and file not in READS_VARIABLES:
            yield f"{file}:{line}: uses os.{name}; options are read at the doors and handed down"


def printing(file: str, tree: ast.Module) -> Iterator[str]:
    if package_of(file) == "autotest" and room_of(file) in DOORS_TO_PEOPLE:
        return
    for node in every(tree):
        named = isinstance(node, ast.Name | ast.Attribute) and last_name(node) == "print"
        stream = (
            isinstance(node, ast.Attribute) and node.attr in ("stdout", "stderr") and last_name(node.value) == "sys"
        )
        if named or (stream and file not in WRITES_TO_STREAMS):
            yield f"{file}:{node.lineno}: prints; only {', '.join(DOORS_TO_PEOPLE)} may"


def state(file: str, tree: ast.Module) -> Iterator[str]:
    """Modules and classes have no mutable state. A constant may be a dict if no code changes it."""
    classes = (node.body for node in every(tree) if isinstance(node, ast.ClassDef))
    for node in itertools.chain(top_level(tree.body), *classes):
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        value = node.value
        mutable = isinstance(value, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp) or (
            isinstance(value, ast.Call) and last_name(value.func) in MAKES_MUTABLE
        )
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            name = last_name(target)
            if mutable and not name.isupper() and not name.startswith("__"):
                yield f"{file}:{node.lineno}: module-level state {name!r}; it belongs into the Trial, or is a CONSTANT"
    for inner in every(tree):
        if isinstance(inner, ast.Global):
            yield f"{file}:{inner.lineno}: global {', '.join(inner.names)}; state belongs into the Trial"
        for changed in changes(inner):
            if len(last_name(changed)) > 1 and last_name(changed).isupper():
                yield f"{file}:{changed.lineno}: changes the constant {last_name(changed)}"


def changes(node: ast.AST) -> Iterator[ast.expr]:
    """Return the expressions whose value a statement changes in place."""
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in CHANGES:
            yield value
        case ast.Subscript(value=value, ctx=ast.Store() | ast.Del()):
            yield value
        case ast.AugAssign(target=target):
            yield target


def length(file: str, text: str) -> Iterator[str]:
    if (lines := text.count("\n")) > LONGEST:
        yield f"{file}: {lines} lines; more than {LONGEST} hold more than one idea"


def places(file: str, text: str) -> Iterator[str]:
    for number, line in enumerate(text.splitlines(), 1):
        if found := PLACES.search(line):
            yield f"{file}:{number}: {found[0]!r} is a registry's host or a path of one machine"


def violations(file: str, text: str) -> list[str]:
    """Return the violations in a file of the library; `file` is its path from the root, with slashes."""
    tree = ast.parse(text)
    found = [*length(file, text), *places(file, text)]
    for rule in (order, dependencies, candidates, environment, printing, state):
        found += rule(file, tree)
    if text.strip() and ast.get_docstring(tree) is None:
        found.append(f"{file}: says nowhere what it is for; its first lines are a docstring")
    return found


def module_of(file: str) -> str:
    return file.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


Imports = Mapping[str, "set[str]"]


def imports_of(texts: Mapping[str, str]) -> Imports:
    """Return the modules of the library that each module imports, also inside of functions."""
    files = {module_of(file): file for file in texts}
    graph: dict[str, set[str]] = {}
    for module, file in files.items():
        graph[module] = set()
        for _, name in imported(file, ast.parse(texts[file])):
            there = name
            while there not in files and "." in there:
                there = there.rpartition(".")[0]
            if there in files and there != module:
                graph[module].add(there)
    return graph


def between_folders(graph: Imports) -> Imports:
    """Return the imports between the folders inside of the packages, and the modules that are in no such folder."""
    folders: dict[str, set[str]] = {}
    for module, names in graph.items():
        folder = folder_of(module)
        folders.setdefault(folder, set()).update({folder_of(name) for name in names} - {folder})
    return folders


def folder_of(module: str) -> str:
    return ".".join(module.split(".")[:3])


def cycles(graph: Imports) -> list[list[str]]:
    """Return the groups of modules that import one another."""
    reached = {module: _reachable(graph, module) for module in graph}
    knots = {frozenset(there for there in reached[module] if module in reached[there]) for module in graph}
    return sorted(sorted(knot) for knot in knots if len(knot) > 1)


def _reachable(graph: Imports, start: str) -> set[str]:
    seen: set[str] = set()
    waiting = [*graph[start]]
    while waiting:
        module = waiting.pop()
        if module not in seen:
            seen.add(module)
            waiting += graph[module]
    return seen


def twins(texts: Mapping[str, str]) -> list[str]:
    """Return names of public classes and types that are defined twice: readers would confuse them."""
    places: dict[str, list[str]] = {}
    for file, text in texts.items():
        for node in ast.parse(text).body:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", node)]
            for name in {node.name} if isinstance(node, ast.ClassDef) else {*map(last_name, targets)}:
                if name[:1].isupper() and not name.isupper() and name not in MEANS_TWO_THINGS:
                    places.setdefault(name, []).append(file)
    return [f"{name}: {', '.join(files)}" for name, files in sorted(places.items()) if len(files) > 1]


# -- the library --------------------------------------------------------------------------------------------


def sources(*folders: str) -> dict[str, str]:
    files = (path for folder in folders for path in sorted((ROOT / folder).rglob("*.py")))
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in files}


@pytest.mark.parametrize("file", sources("autotest", "generators"))
def test_a_library_file_keeps_the_house_rules(file: str) -> None:
    assert violations(file, (ROOT / file).read_text(encoding="utf-8")) == []


@functools.lru_cache(maxsize=1)
def imports_in(package: str) -> Imports:
    """Return the imports of a package. They are cached, because two tests look at those of `autotest`."""
    return imports_of(sources(package))


@pytest.mark.parametrize("package", ["generators", "autotest"])
def test_no_modules_import_one_another(package: str) -> None:
    assert cycles(imports_in(package)) == []


def test_no_folders_of_a_room_import_one_another() -> None:
    assert cycles(between_folders(imports_in("autotest"))) == []


def test_no_class_or_type_has_the_name_of_another() -> None:
    assert twins(sources("autotest", "generators")) == []


#: The rooms, and the folders inside of them.
FOLDERS: Final = sorted(
    file.parent.relative_to(ROOT).as_posix()
    for file in (ROOT / "autotest").rglob("__init__.py")
    if file.parts[-2] != "autotest"
)


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_room_says_what_enters_and_what_leaves(folder: str) -> None:
    said = ast.get_docstring(ast.parse((ROOT / folder / "__init__.py").read_text(encoding="utf-8")))
    assert said is not None
    assert said.partition("\n\n")[0].count(".") >= 1


def test_the_readme_lists_the_rooms_in_order_each_with_its_sentence() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", readme.partition("## How it is built")[2], re.MULTILINE)
    rooms = [room for room in ROOMS if room not in FILES]
    files = {room: ROOT / "autotest" / room / "__init__.py" for room in rooms}
    said = {room: ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "" for room, file in files.items()}
    expected = [(room, said[room].partition("\n\n")[0].replace("\n", " ").replace("``", "`")) for room in rooms]
    assert rows[: len(rooms)] == expected


def test_the_library_was_found_at_all() -> None:
    assert {"generators/core.py", "autotest/frameworks/oneflow_import.py"} <= set(sources("autotest", "generators"))


def test_no_file_names_a_registry_or_a_path_of_one_machine() -> None:
    plain = [ROOT / name for name in ("pyproject.toml", "README.md", "CHANGELOG.md", ".gitignore", ".ci/run")]
    kinds = {".py", ".md", ".toml", ".txt", ".json", ".yml", ".html"}
    folders = (ROOT / name for name in ("tests", "benchmarks"))
    files = [*plain, *(path for folder in folders for path in folder.rglob("*") if path.suffix in kinds)]
    texts = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in files if path.is_file()}
    assert [line for file, text in texts.items() for line in places(file, text)] == []


def test_mypy_is_strict_everywhere() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]
    strict = {name for part in settings["overrides"] if part.get("disallow_untyped_defs") for name in part["module"]}
    assert strict == {"autotest.*", "generators.*"}


# -- planted violations -------------------------------------------------------------------------------------

PLANTED: Final = {
    "a room that reaches up": ("autotest/program/calls.py", "from autotest.trials.trial import Trial", "to its right"),
    "a room that reaches up to a module by name": ("autotest/trials/trial.py", "from autotest import cli", "right"),
    "a room that reaches up by a relative import": (
        "autotest/emission/code.py",
        "from ..frameworks import pair",
        "to its right",
    ),
    "a room that reaches up lazily": ("autotest/base/errors.py", "def f():\n    import autotest.running", "right"),
    "a room that reaches up for a type": (
        "autotest/base/errors.py",
        "if TYPE_CHECKING:\n    from autotest.results.finding import Finding",
        "to its right",
    ),
    "a room that uses the front door": ("autotest/recording/dual.py", "from autotest import torch", "to its right"),
    "a file in no room": ("autotest/novelty/x.py", "x = 1", "add it to ROOMS"),
    "a file at the top": ("autotest/report.py", "x = 1", "put it into a room"),
    "a framework above its adapter": ("autotest/trials/trial.py", "def f():\n    import torch.nn", "imports torch"),
    "a framework imported by its name": (
        "autotest/trials/trial.py",
        'importlib.import_module("tensorflow")',
        "imports tensorflow",
    ),
    "a framework imported by another name of import_module": (
        "autotest/trials/trial.py",
        "from importlib import import_module as load\nload(name='mlx.core')",
        "imports mlx",
    ),
    "a room that reaches up by a formatted name": (
        "autotest/base/errors.py",
        "importlib.import_module(f'autotest.cli.{x}')",
        "to its right",
    ),
    "a room that reaches up by a relative name": (
        "autotest/base/errors.py",
        "importlib.import_module('..cli.fuzz', __package__)",
        "to its right",
    ),
    "a candidate imported": ("autotest/trials/trial.py", "import onnxruntime", "imports onnxruntime"),
    "a framework in the generators": ("generators/arrays.py", "from torch import Size", "imports torch"),
    "autotest in the generators": ("generators/arrays.py", "import autotest.program", "may use"),
    "another package in the generators": ("generators/core.py", "import typing_extensions", "may use"),
    "another package in a pure part": ("autotest/comparison/values.py", "import scipy.stats", "a pure part"),
    "input and output in a pure part": ("autotest/emission/code.py", "from pathlib import Path", "a pure part"),
    "a candidate by its name": ("autotest/running/runner.py", "if name == 'oneflow':\n    pass", "names the candidate"),
    "a choice of frameworks below the doors": (
        "autotest/running/runner.py",
        "from autotest.frameworks import chosen_pair",
        "by chosen",
    ),
    "options read below the doors": (
        "autotest/campaigns/campaign.py",
        "asked = options.from_environment()",
        "by from_environment",
    ),
    "a project found below the doors": (
        "autotest/trials/trial.py",
        "options.configured('AUTOTEST_N')",
        "by configured",
    ),
    "options read from their class": (
        "autotest/campaigns/campaign.py",
        "asked = Options.from_environment()",
        "by from_environment",
    ),
    "a choice of frameworks by a package": ("autotest/running/runner.py", "frameworks.chosen_pair()", "by chosen"),
    "a variable of the process": ("autotest/trials/trial.py", "seed = os.environ.get('SEED')", "os.environ"),
    "a variable of the process by name": ("autotest/trials/trial.py", "from os import getenv", "os.getenv"),
    "a print of the module of builtins": ("autotest/running/runner.py", "builtins.print(1)", "prints"),
    "a stream written to": ("autotest/running/runner.py", "sys.stderr.write('1')", "prints"),
    "a list of a class": ("autotest/running/runner.py", "class Runner:\n    seen = []", "'seen'"),
    "a print": ("autotest/running/runner.py", "def f():\n    print(1)", "prints"),
    "a print handed on": ("generators/core.py", "show = print", "prints"),
    "a list in a module": ("autotest/running/runner.py", "seen = []", "'seen'"),
    "a counter in a module": ("autotest/running/runner.py", "tally: Counter[str] = collections.Counter()", "'tally'"),
    "a cache made conditionally": ("autotest/running/runner.py", "if FAST:\n    known = {}", "'known'"),
    "a global flag": ("autotest/running/runner.py", "def f():\n    global busy\n    busy = True", "global busy"),
    "a constant that grows": ("autotest/running/runner.py", "KINDS = []\ndef f():\n    KINDS.append(1)", "KINDS"),
    "a constant of another module set": (
        "autotest/running/runner.py",
        "def f():\n    settings.TABLE['x'] = 1",
        "TABLE",
    ),
    "a constant that counts": ("autotest/running/runner.py", "def f():\n    options.COUNT += 1", "COUNT"),
    "a file that is too long": ("autotest/running/runner.py", "x = 1\n" * 401, "more than one idea"),
    "a path of one machine": ("autotest/running/runner.py", "HOME = '/{}/x'".format("root"), "path of one machine"),
    "a registry's host": ("autotest/running/runner.py", "HOST = 'https://{}.org'".format("pypi"), "registry"),
}


@pytest.mark.parametrize(("file", "text", "said"), PLANTED.values(), ids=PLANTED)
def test_a_planted_violation_is_found(file: str, text: str, said: str) -> None:
    (found,) = violations(file, f'"""Planted."""\n{text}\n')
    assert said in found


CIRCLES: Final = {
    "inside of a room": {
        "autotest/trials/a.py": "from autotest.trials import b",
        "autotest/trials/b.py": "from autotest.trials.a import x",
    },
    "between rooms": {
        "autotest/base/a.py": "import autotest.trials.b",
        "autotest/trials/b.py": "import autotest.base.a",
    },
    "by a deferred import": {
        "autotest/base/a.py": "from autotest.base.b import x",
        "autotest/base/b.py": "def f():\n    import autotest.base.a",
    },
    "by way of a third": {
        "generators/a.py": "from generators.b import x",
        "generators/b.py": "from generators.c import x",
        "generators/c.py": "from generators.a import x",
    },
}


@pytest.mark.parametrize("texts", CIRCLES.values(), ids=CIRCLES)
def test_a_planted_circle_is_found(texts: dict[str, str]) -> None:
    assert cycles(imports_of(texts)) == [[module_of(file) for file in texts]]


def test_a_planted_circle_of_folders_is_found() -> None:
    texts = {
        "autotest/diagnosis/oracles/a.py": "from autotest.diagnosis.rounding import b",
        "autotest/diagnosis/oracles/c.py": "",
        "autotest/diagnosis/rounding/b.py": "",
        "autotest/diagnosis/rounding/d.py": "from autotest.diagnosis.oracles.c import x",
        "autotest/diagnosis/attribution/verdict.py": "from autotest.diagnosis import oracles, rounding",
    }
    assert cycles(imports_of(texts)) == []
    assert cycles(between_folders(imports_of(texts))) == [["autotest.diagnosis.oracles", "autotest.diagnosis.rounding"]]


@pytest.mark.parametrize("second", ["class Entry:\n    pass", "Entry = tuple[int, str]", "Entry: TypeAlias = int"])
def test_a_planted_name_of_two_things_is_found(second: str) -> None:
    texts = {"autotest/a.py": "class Entry:\n    pass\nTABLE = 1", "autotest/b.py": f"{second}\nTABLE = 2\n_Own = int"}
    assert twins({**texts, "autotest/c.py": "_Own = str"}) == ["Entry: autotest/a.py, autotest/b.py"]


def test_a_file_without_a_docstring_is_found() -> None:
    assert "docstring" in violations("autotest/running/runner.py", "x = 1\n")[0]


def test_what_the_rules_allow_passes() -> None:
    allowed = '''\
        """Allowed."""
        import contextvars
        import numpy as np
        from autotest.program import Program
        from autotest.recording.recorder import Recorder
        from generators import core
        TABLE = {"a": 1}
        __all__ = ["f"]
        current = contextvars.ContextVar("current")
        def f(self, A):
            here = []
            here.append(TABLE["a"])
            self.seen[0] = here
            A[0] += 1
            return "print", here
    '''
    assert violations("autotest/trials/trial.py", textwrap.dedent(allowed)) == []
    assert violations("autotest/frameworks/torch.py", '"""A door."""\nimport torch\n') == []
    assert violations("autotest/cli/fuzz.py", '"""A door."""\nfrom autotest import report\nprint(report)\n') == []
