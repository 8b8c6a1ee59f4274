"""Dual modules: their children are dual, and hooks and containers support classes of the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from autotest.base.errors import UsageError, is_test_mistake
from autotest.frameworks import Framework
from autotest.program import Scope
from autotest.recording.dual import Value, set_actual, wrap
from autotest.recording.lowering import Lowered
from autotest.recording.mistakes import calls_by_itself
from autotest.recording.module_hooks import AroundCall
from autotest.recording.module_table import Hooks, ModuleTable
from autotest.recording.recorder import Recorder, current

__tracebackhide__ = is_test_mistake  # as in the recorder

_MISSING = object()


class Module(Value):
    """A module of the framework's own on both sides."""

    __slots__ = ()

    def _lower(self, recorder: Recorder) -> Lowered:
        lowered = super()._lower(recorder)
        if recorder is not self._recorder and recorder.modules.duals.get(id(self._expected)) is not self:
            recorder.modules.take_over(self._recorder.modules)
            if self._recorder.has_stand_ins:
                offset = recorder.imported[id(self._recorder)]
                for dual in self._recorder.modules.duals.values():
                    if dual._recorder is self._recorder:
                        set_actual(dual, recorder.actual[offset + dual._slot])
        return lowered

    def _dual_now(self) -> Recorder:
        """Return the current recorder, after it has imported this module and its children."""
        recorder = self._recorder_now()
        if recorder is not self._recorder:
            self._lower(recorder)
        return recorder

    # -- children ---------------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        recorder = current() or self._recorder
        if recorder.pair.side(name) is None and not recorder.pair.is_method(self._expected, name):
            known = self._dual_known(name)
            if known is not _MISSING:
                return known
        elif name in _VIEWS and self._dual_is_a("nn.ModuleDict"):
            return lambda: _VIEWS[name](dict(self._dual_children()))
        return super().__getattr__(name)

    def _dual_known(self, name: str) -> Any:
        """Return the dual object for the member `name` if there is one, else `_MISSING`."""
        recorder = self._dual_now()
        own = _member(recorder.pair.reference, self._expected, name)
        dual = recorder.modules.duals.get(id(own), _MISSING)
        if dual is _MISSING or _member(recorder.pair.candidate, self._actual, name) is dual._actual:
            return dual
        # In another process, a member gets a new stand-in with each call that returns it. Only a class of the test
        # needs to be found again: for any other module, a new dual object is as good, and the processes need not wait.
        if id(own) not in recorder.modules.networks:
            return _MISSING
        candidate = recorder.pair.candidate
        try:
            theirs = candidate.invoke("getattr", name, (self._actual,), {})
        except AttributeError:
            return _MISSING
        return dual if candidate.same(theirs, dual._actual) else _MISSING

    def _dual_child(self, name: str) -> Any:
        known = self._dual_known(name)
        if known is not _MISSING:
            return known
        recorder = self._dual_now()
        if self._dual_is_a("nn.Sequential") or self._dual_is_a("nn.ModuleList"):
            # Indexed by position. The names of a Sequential may be any, such as digits in another order.
            position = [*recorder.pair.reference.children(self._expected)].index(name)
            return wrap(recorder, recorder.operate("getitem", (self, position)))
        if self._dual_is_a("nn.ModuleDict"):
            return wrap(recorder, recorder.operate("getitem", (self, name)))
        return wrap(recorder, recorder.getattr(self, name))

    def _dual_children(self) -> Iterator[tuple[str, Any]]:
        """Yield the names and dual objects of the direct children, including duplicates."""
        for name, child in [*self._recorder_now().pair.reference.children(self._expected).items()]:
            if child is not None:
                yield name, self._dual_child(name)

    def named_children(self) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        for name, child in self._dual_children():
            if id(child._expected) not in seen:
                seen.add(id(child._expected))
                yield name, child

    def children(self) -> Iterator[Any]:
        return (child for _, child in self.named_children())

    def named_modules(self, memo: Any = None, prefix: str = "", remove_duplicate: bool = True) -> Iterator[Any]:
        seen: set[int] = set() if memo is None else memo
        if id(self._expected) in seen:
            return
        if remove_duplicate:
            seen.add(id(self._expected))
        yield prefix, self
        for name, child in self._dual_children():
            yield from child.named_modules(seen, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def modules(self) -> Iterator[Any]:
        return (module for _, module in self.named_modules())

    def get_submodule(self, target: str) -> Any:
        found: Any = self
        for name in target.split(".") if target else ():
            found = found._dual_child(name)
        return found

    def apply(self, function: Callable[[Any], Any]) -> Any:
        for child in self.children():
            child.apply(function)
        function(self)
        return self

    def _dual_is_a(self, path: str) -> bool:
        return self._recorder_now().pair.reference.is_a(self._expected, path)

    def __iter__(self) -> Iterator[Any]:
        if self._dual_is_a("nn.ModuleDict"):
            return iter([name for name, _ in self._dual_children()])
        if self._dual_is_a("nn.ModuleList") or self._dual_is_a("nn.Sequential"):
            return iter([child for _, child in self._dual_children()])
        return super().__iter__()

    def __getitem__(self, key: Any) -> Any:
        if type(key) is str and self._dual_is_a("nn.ModuleDict"):
            children = dict(self._dual_children())
            if key in children:
                return children[key]
        if type(key) is int and (self._dual_is_a("nn.ModuleList") or self._dual_is_a("nn.Sequential")):
            found = [child for _, child in self._dual_children()]
            if -len(found) <= key < len(found):
                return found[key]
        recorder = self._dual_now()
        return wrap(recorder, recorder.operate("getitem", (self, key)))

    # -- calls ------------------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        recorder = self._dual_now()
        table = recorder.modules
        if self._dual_is_plain(table):
            return super().__call__(*args, **kwargs)
        outermost, scope = not table.scopes, recorder.scope
        if outermost:
            table.scopes = dict(self._dual_places(Scope(self._dual_name())))
        recorder.scope = table.scopes.get(id(self._expected), scope)
        try:
            return self._dual_hooked(table.hooks.get(id(self._expected)), scope, args, kwargs)
        finally:
            recorder.scope = scope
            if outermost:
                table.scopes = {}

    def _dual_is_plain(self, table: ModuleTable) -> bool:
        """Return whether the frameworks can call the module directly, with no need to record the path of each part."""
        # What a container computes before and after it draws random numbers can be compared only part by part.
        return table.plain and id(self._expected) not in self._recorder.random_modules

    def _dual_name(self) -> str:
        """Return the name of the module's class."""
        return type(self._expected).__name__

    def _dual_places(self, outermost: Scope) -> Iterator[tuple[int, Scope]]:
        """Yield the id and the path of this module and of all modules in it, with the first path of duplicates."""
        children = self._recorder_now().pair.reference.children
        seen: set[int] = set()
        waiting = [(self._expected, outermost)]
        while waiting:
            module, scope = waiting.pop()
            if id(module) not in seen:
                seen.add(id(module))
                yield id(module), scope
                inside = [(child, scope.child(key)) for key, child in children(module).items() if child is not None]
                waiting.extend(reversed(inside))

    def _dual_hooked(self, hooks: Hooks | None, outside: Scope | None, args: Any, kwargs: Any) -> Any:
        if hooks is None:
            return self._dual_forward(*args, **kwargs)
        for hook, named in [*hooks.before.values()]:
            changed = hook(self, args, kwargs) if named else hook(self, args)
            if changed is None:
                continue
            if named:
                args, kwargs = changed
            else:
                args = changed if isinstance(changed, tuple) else (changed,)
        around = AroundCall(self._recorder_now(), self, hooks, outside) if hooks.around_backward else None
        if around is not None:
            args, kwargs = around.entering(args, kwargs)
        result = self._dual_forward(*args, **kwargs)
        for hook, named in [*hooks.after.values()]:
            changed = hook(self, args, kwargs, result) if named else hook(self, args, result)
            result = result if changed is None else changed
        return result if around is None else around.leaving(result)

    def _dual_forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the module itself. A Sequential calls its children one after the other, as the framework's does."""
        if self._dual_is_a("nn.Sequential") and len(args) == 1 and not kwargs:
            (result,) = args
            for child in self:
                result = child(result)
            return result
        table = self._recorder_now().modules
        inside = [
            module
            for module in self._dual_inside(self._expected)
            if id(module) in table.networks or id(module) in table.hooks
        ]
        if inside:
            raise calls_by_itself(type(self._expected).__name__)
        return super().__call__(*args, **kwargs)

    def _dual_inside(self, module: Any) -> Iterator[Any]:
        """Yield the reference's modules inside `module`, at any depth."""
        children = self._recorder_now().pair.reference.children
        waiting = [*children(module).values()]
        while waiting:
            inner = waiting.pop()
            if inner is not None:
                yield inner
                waiting.extend(children(inner).values())

    # -- text and copies ----------------------------------------------------------------------------------------

    def _dual_text(self, side: int) -> str:
        """Return the ``repr`` of the module on one side, with the names of the test's own classes."""
        live = self._sides()[side]
        return self._dual_tree(type(live).__name__, [], side) if [*self._dual_children()] else repr(live)

    def _dual_tree(self, name: str, lines: list[str], side: int) -> str:
        children = [f"({key}): {child._dual_text(side)}" for key, child in self._dual_children()]
        inside = "".join("\n  " + line.replace("\n", "\n  ") for line in (*lines, *children))
        return f"{name}({inside}{chr(10) if children else ''})"

    def __deepcopy__(self, memo: Any) -> Any:
        recorder = self._dual_now()
        slot = recorder.builtin("deepcopy", self)
        table = recorder.modules
        made = [recorder.expected[slot], *self._dual_inside(recorder.expected[slot])]
        for old, new in zip([self._expected, *self._dual_inside(self._expected)], made, strict=True):
            if id(old) in table.networks:
                table.copies[id(new)] = table.duals[id(old)]
            if id(old) in table.hooks:
                table.hooks[id(new)] = table.hooks[id(old)].copied()
            if id(old) in recorder.random_modules:
                recorder.random_modules.add(id(new))
        memo[id(self)] = copied = wrap(recorder, slot)
        return copied

    # -- hooks ------------------------------------------------------------------------------------------

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> Handle:
        """Call `hook` with dual objects before each call of this module. It may return other arguments."""
        return Handle(self._dual_hooks().before, hook, with_kwargs, prepend)

    def register_forward_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> Handle:
        """Call `hook` with dual objects after each call of this module. It may return another result."""
        if always_call:
            raise UsageError(
                "register_forward_hook(always_call=True): a call that raises ends the trial, so no hook runs after "
                "it. Omit always_call"
            )
        return Handle(self._dual_hooks().after, hook, with_kwargs, prepend)

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> Handle:
        """Call `hook` with the gradients of this module's results. It may return other gradients."""
        return Handle(self._dual_hooks().before_backward, hook, prepend=prepend)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> Handle:
        """Call `hook` with the gradients of arguments and of results. It may return others of the arguments."""
        return Handle(self._dual_hooks().after_backward, hook, prepend=prepend)

    register_backward_hook = register_full_backward_hook

    def _dual_hooks(self) -> Hooks:
        return self._dual_now().modules.hooks.setdefault(id(self._expected), Hooks())


def _member(framework: Framework, module: Any, name: str) -> Any:
    """Return the member `name` of a module of `framework`, or `_MISSING`."""
    try:
        return framework.member(module, name)
    except AttributeError:
        return _MISSING


class Handle:
    """The return value of registering a hook. ``handle.remove()`` removes the hook."""

    def __init__(
        self,
        hooks: dict[int, tuple[Callable[..., Any], bool]],
        hook: Any,
        named: bool = False,
        prepend: bool = False,
    ) -> None:
        self._hooks = hooks
        self._key = max(hooks, default=0) + 1
        later = {} if not prepend else dict(hooks)
        if prepend:
            hooks.clear()
        self._entry = hooks[self._key] = (hook, named)
        hooks.update(later)

    def remove(self) -> None:
        """Remove the hook. A second call does nothing, even if a later hook has got the same key."""
        if self._hooks.get(self._key) is self._entry:
            del self._hooks[self._key]

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *details: object) -> None:
        self.remove()


_VIEWS: dict[str, Callable[[dict[str, Any]], Any]] = {"keys": dict.keys, "values": dict.values, "items": dict.items}
