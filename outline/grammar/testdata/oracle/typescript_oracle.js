// Prints the definitions of each file named on standard input, one JSON object
// a line. The argument is the folder of the TypeScript compiler.
//
// A definition is [kind, name, first line, last line]: functions, classes and
// their members, interfaces and theirs, enums, namespaces and type aliases
// wherever they stand, functions bound to a name, and the variables of modules
// and namespaces.

const fs = require("fs");
const ts = require(process.argv[2]);

function isFunction(node) {
  while (node && (ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isSatisfiesExpression(node) || ts.isNonNullExpression(node))) {
    node = node.expression;
  }
  return node && (ts.isFunctionExpression(node) || ts.isArrowFunction(node));
}

// The members of a type are definitions in an interface and in the object type
// that an alias names.
function hasMembers(node) {
  if (ts.isInterfaceDeclaration(node)) return true;
  while (ts.isUnionTypeNode(node.parent) || ts.isIntersectionTypeNode(node.parent) || ts.isParenthesizedTypeNode(node.parent)) node = node.parent;
  return ts.isTypeAliasDeclaration(node.parent);
}

function nameOf(name) {
  if (!name) return undefined;
  if (ts.isIdentifier(name) || ts.isPrivateIdentifier(name) || ts.isStringLiteral(name) || ts.isNumericLiteral(name) || ts.isNoSubstitutionTemplateLiteral(name)) return name.text;
  if (ts.isComputedPropertyName(name)) return name.getText();
  return undefined;
}

function definitions(path) {
  const text = fs.readFileSync(path, "utf8");
  const kind = /\.tsx$/.test(path) ? ts.ScriptKind.TSX : /\.[cm]?ts$/.test(path) ? ts.ScriptKind.TS : ts.ScriptKind.JSX;
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, kind);
  if (file.parseDiagnostics.length > 0) return null;
  const found = [];
  const line = (at) => file.getLineAndCharacterOfPosition(at).line + 1;
  // The first token that is no decorator and no documentation.
  function start(node) {
    let at = node.getStart(file, false);
    for (const m of node.modifiers ?? []) {
      if (ts.isDecorator(m) && m.getStart(file) <= at) at = skip(m.end);
    }
    return at;
  }
  function skip(at) {
    const rest = /^(?:\s|\/\/[^\n]*|\/\*[^]*?\*\/)*/.exec(text.slice(at));
    return at + rest[0].length;
  }
  function add(kind, name, node, from) {
    if (name !== undefined && name !== "") found.push([kind, name, line(start(from ?? node)), line(node.end)]);
  }
  function bindings(name, node) {
    if (ts.isIdentifier(name)) add("variable", name.text, node, name);
    else for (const e of name.elements) if (e.name) bindings(e.name, node);
  }
  function visit(node, inFunction) {
    const fn = inFunction ? "nested" : "function";
    let inside = inFunction;
    if (ts.isFunctionDeclaration(node)) {
      add(fn, nameOf(node.name) ?? "default", node);
      inside = true;
    } else if (ts.isMethodDeclaration(node) || ts.isMethodSignature(node) && hasMembers(node.parent)) {
      add("method", nameOf(node.name), node);
      inside = true;
    } else if (ts.isConstructorDeclaration(node)) {
      add("method", "constructor", node);
      inside = true;
    } else if (ts.isParameter(node) && ts.isParameterPropertyDeclaration(node, node.parent)) {
      add("property", nameOf(node.name), node);
    } else if (ts.isGetAccessor(node) || ts.isSetAccessor(node)) {
      if (ts.isClassLike(node.parent) || ts.isObjectLiteralExpression(node.parent)) add("property", nameOf(node.name), node);
      inside = true;
    } else if (ts.isClassDeclaration(node)) {
      add("class", nameOf(node.name) ?? (node.modifiers?.some((m) => m.kind === ts.SyntaxKind.DefaultKeyword) ? "default" : undefined), node);
      inside = false;
    } else if (ts.isInterfaceDeclaration(node)) add("type", nameOf(node.name), node);
    else if (ts.isTypeAliasDeclaration(node)) add("type", nameOf(node.name), node);
    else if (ts.isEnumDeclaration(node)) add("type", nameOf(node.name), node);
    else if (ts.isEnumMember(node)) add("member", nameOf(node.name), node);
    else if (ts.isModuleDeclaration(node)) {
      if (!ts.isModuleDeclaration(node.parent)) {
        let name = node.name.text;
        for (let b = node.body; b && ts.isModuleDeclaration(b); b = b.body) name += "." + b.name.text;
        add("type", name, node);
      }
    } else if (ts.isPropertyDeclaration(node)) add(isFunction(node.initializer) ? "method" : "property", nameOf(node.name), node);
    else if (ts.isPropertySignature(node) && hasMembers(node.parent)) add("property", nameOf(node.name), node);
    else if (ts.isPropertyAssignment(node) && isFunction(node.initializer)) {
      const own = ts.isComputedPropertyName(node.name) && node.initializer.name;
      add(fn, own ? own.text : nameOf(node.name), node);
    } else if (ts.isVariableDeclaration(node)) {
      const list = node.parent;
      const first = list.declarations && list.declarations[0] === node && ts.isVariableStatement(list.parent);
      const loop = ts.isForStatement(list.parent) || ts.isForInStatement(list.parent) || ts.isForOfStatement(list.parent) || ts.isCatchClause(node.parent);
      if (isFunction(node.initializer) && ts.isIdentifier(node.name)) add(fn, node.name.text, node, first ? list.parent : node);
      else if (!inFunction && !loop && ts.isIdentifier(node.name)) add("variable", node.name.text, node, first ? list.parent : node);
      else if (!inFunction && !loop) bindings(node.name, node);
    } else if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken && isFunction(node.right)) {
      const left = node.left;
      if (ts.isIdentifier(left)) add(fn, left.text, node);
      else if (ts.isPropertyAccessExpression(left)) add(fn, left.name.text, node);
    } else if (ts.isFunctionExpression(node) || ts.isArrowFunction(node) || ts.isClassStaticBlockDeclaration(node)) {
      let p = node.parent;
      while (ts.isParenthesizedExpression(p) || ts.isAsExpression(p)) p = p.parent;
      const bound = ts.isVariableDeclaration(p) || ts.isPropertyAssignment(p) || ts.isPropertyDeclaration(p) || ts.isBinaryExpression(p) && p.operatorToken.kind === ts.SyntaxKind.EqualsToken || ts.isExportAssignment(p);
      if (!bound && node.name) add(fn, node.name.text, node);
      inside = true;
    }
    const members = ts.isTypeLiteralNode(node) && hasMembers(node) || ts.isUnionTypeNode(node) || ts.isIntersectionTypeNode(node) || ts.isParenthesizedTypeNode(node);
    if (ts.isTypeNode(node) && !ts.isExpressionWithTypeArguments(node) && !members) return;
    if (ts.isTypeParameterDeclaration(node)) return;
    if (ts.isForStatement(node) || ts.isForInStatement(node) || ts.isForOfStatement(node)) {
      ts.forEachChild(node, (c) => visit(c, true)); // the variables of loops are locals
      return;
    }
    ts.forEachChild(node, (c) => visit(c, inside));
  }
  visit(file, false);
  return found;
}

for (const path of fs.readFileSync(0, "utf8").split("\n")) {
  if (path) console.log(JSON.stringify({ path, definitions: definitions(path) }));
}
