"""Prints the definitions of each file named on standard input, one JSON object a line.

A definition is [kind, name, first line, last line], in the order of the
syntax tree: functions and classes wherever they stand, and the variables that
are assigned in a module or class outside of loops.
"""

import ast
import json
import sys


def targets(node):
    if isinstance(node, ast.Name):
        yield node
    elif isinstance(node, (ast.Tuple, ast.List)):
        for element in node.elts:
            yield from targets(element)
    elif isinstance(node, ast.Starred):
        yield from targets(node.value)


def definitions(body, depth, in_function, in_loop, found):
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            kind = "nested" if in_function else "function"
            found.append([kind, node.name, node.lineno, node.end_lineno])
            definitions(node.body, depth + 1, True, False, found)
        elif isinstance(node, ast.ClassDef):
            found.append(["class", node.name, node.lineno, node.end_lineno])
            definitions(node.body, depth + 1, False, False, found)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            value_is_lambda = isinstance(node.value, ast.Lambda)
            if (in_function or in_loop) and not value_is_lambda:
                continue
            names = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in names:
                for name in targets(target):
                    found.append(["variable", name.id, name.lineno, node.end_lineno])
        else:
            loop = in_loop or isinstance(node, (ast.For, ast.AsyncFor, ast.While))
            for field in ("body", "orelse", "finalbody"):
                definitions(getattr(node, field, []), depth, in_function, loop, found)
            for handler in getattr(node, "handlers", []):
                definitions(handler.body, depth, in_function, loop, found)
            for case in getattr(node, "cases", []):
                definitions(case.body, depth, in_function, loop, found)


for line in sys.stdin:
    path = line.rstrip("\n")
    with open(path, "rb") as file:
        source = file.read()
    found = []
    try:
        definitions(ast.parse(source).body, 0, False, False, found)
    except (SyntaxError, ValueError):
        found = None
    print(json.dumps({"path": path, "definitions": found}))
