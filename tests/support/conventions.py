"""Search of the source of a test for what the conventions refuse."""

from __future__ import annotations

import ast
from collections.abc import Iterator

Names = dict[str, list[ast.expr]]
"""The expressions that each name can stand for."""

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def find_prose(source: str) -> list[int]:
    """Return the lines of ``pytest.raises`` and ``pytest.warns`` with a blank in ``match``."""
    return sorted(set(_find_prose(ast.parse(source), {})))


def find_test_imports(source: str) -> list[int]:
    """Return the lines that import a test file (``tests.broker.test_flow``) or a name of one."""
    return sorted(
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Import | ast.ImportFrom) and _imports_tests(node)
    )


def _imports_tests(node: ast.Import | ast.ImportFrom) -> bool:
    module = getattr(node, "module", None) or ""
    names = [f"{module}.{alias.name}".strip(".") for alias in node.names]
    relative = getattr(node, "level", 0) > 0
    return any(
        (relative or name.startswith("tests.")) and any(part.startswith("test_") for part in name.split("."))
        for name in names
    )


def _find_prose(scope: ast.AST, outer: Names) -> Iterator[int]:
    names = {**outer}
    for node in _nodes(scope):
        _bind_names(node, names)
    for node in _nodes(scope):
        if isinstance(node, _SCOPES):
            yield from _find_prose(node, names)
        elif isinstance(node, ast.Call) and _last_name(node.func) in {"raises", "warns"}:
            patterns = [keyword.value for keyword in node.keywords if keyword.arg == "match"]
            if any(" " in text for pattern in patterns for text in _literals(pattern, names)):
                yield node.lineno


def _nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a scope in order; an inner function or class is one node."""
    for node in ast.iter_child_nodes(scope):
        yield node
        if not isinstance(node, _SCOPES):
            yield from _nodes(node)


def _last_name(function: ast.expr) -> str:
    return ast.unparse(function).rpartition(".")[2]


def _bind_names(node: ast.AST, names: Names) -> None:
    match node:
        case (
            ast.Assign(targets=[target], value=value)
            | ast.AnnAssign(target=target, value=ast.expr() as value)
        ):
            _bind(target, value, names)
        case ast.For(target=target, iter=table):
            for row in _rows(table, names):
                _bind(target, row, names)
        case ast.Call(func=func, args=[columns, table, *_]) if _last_name(func) == "parametrize":
            for row in _rows(table, names):
                _bind(_columns(columns), row, names)


def _bind(target: ast.expr, value: ast.expr, names: Names) -> None:
    match target, value:
        case ast.Name(id=name), _:
            names[name] = [*names.get(name, []), value]
        case ast.Tuple(elts=targets), ast.Tuple(elts=values) | ast.List(elts=values):
            for one, its in zip(targets, values, strict=False):
                _bind(one, its, names)


def _columns(columns: ast.expr) -> ast.expr:
    """Return the names of a table's columns, of a string or a sequence of strings, as a target."""
    match columns:
        case ast.Constant(value=str(text)):
            return ast.parse(text, mode="eval").body
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return ast.Tuple([_columns(element) for element in elements])
    return columns


def _rows(table: ast.expr, names: Names) -> Iterator[ast.expr]:
    match table:
        case ast.List(elts=rows) | ast.Tuple(elts=rows) | ast.Set(elts=rows):
            for row in rows:
                yield from _row(row, names)
        case ast.Dict(keys=keys, values=values):
            yield from (ast.Tuple([key, value]) for key, value in zip(keys, values, strict=True) if key)
        case ast.Name(id=name):
            for one in names.get(name, []):
                yield from _rows(one, names)
        case ast.Call(func=ast.Attribute(value=inner, attr="items")) | ast.Call(args=[inner, *_]):
            yield from _rows(inner, names)


def _row(row: ast.expr, names: Names) -> Iterator[ast.expr]:
    match row:
        case ast.Starred(value=inner):
            yield from _rows(inner, names)
        case ast.Call(func=func, args=[value]) if _last_name(func) == "param":
            yield value
        case ast.Call(func=func, args=values) if _last_name(func) == "param":
            yield ast.Tuple(values)
        case _:
            yield row


def _literals(pattern: ast.expr, names: Names) -> Iterator[str]:
    """Yield the texts that a pattern is made of: also of its parts, and of what its names stand for."""
    for node in ast.walk(pattern):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.Name):
            others = {name: bound for name, bound in names.items() if name != node.id}
            for one in names.get(node.id, []):
                yield from _literals(one, others)
