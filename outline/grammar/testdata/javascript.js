#!/usr/bin/env node
"use strict";
// Everything that binds a function to a name.

const fs = require("fs");
const { join } = require("path"), util = require("util");
import defaultExport, { named } from "./module.js";
import * as everything from "everything";
export { named as renamed };
export * from "./other.js";

var VERSION = "1.0", empty;

/**
 * Adds two numbers.
 * @param {number} a
 */
function add(a, b) {
  var local = function () {};
  let other = 1;
  const arrow = (x) => x;
  function nested() {
    function deeper() {}
  }
  return a + b;
}

async function load() {}
function* generate() {}
async function* stream() {}

const square = (x) => x * x;
const expression = function () {};
const namedExpression = function own() {};
var first = function () {}, second = () => {}, third = 3;

assigned = function () {};
window.onload = () => {};
this.method = function () {};
a.b.c.deep = function () {};
obj["key"] = function () {};
obj[computed] = function () {};

exports.exported = function () {};
module.exports.other = () => 1;
module.exports = { add, square: square, inline() {} };

// The old kind of class.
function Shape(name) {
  this.name = name;
  this.area = function () {
    return 0;
  };
}
Shape.prototype.draw = function (canvas) {
  canvas.paint(function () {
    function inCallback() {}
  });
};
Shape.prototype = {
  move: function (dx) {},
  scale(by) {},
  rotate: (angle) => angle,
};
Shape.create = function () {
  return new Shape();
};

class Circle extends Shape {
  static count = 0;
  #radius = 1;
  name = "circle";
  handler = () => {
    this.count++;
  };

  static {
    function setup() {}
  }

  constructor(radius) {
    super();
  }

  get radius() {
    return this.#radius;
  }

  set radius(value) {}

  static unit() {}
  async load() {}
  *points() {}
  #hidden() {}
  "quoted name"() {}
  [Symbol.iterator]() {}
}

const Anonymous = class {
  method() {}
};
const Named = class Inner {
  method() {}
};

const api = {
  get(id) {
    return id;
  },
  post: function (body) {},
  put: async (id) => {},
  "quoted-key": function () {},
  value: 1,
  nested: {
    deep() {},
  },
  get lazy() {
    return 1;
  },
  async *stream() {},
};

// A universal module.
(function (root, factory) {
  if (typeof define === "function" && define.amd) {
    define(["exports"], factory);
  } else {
    factory((root.library = {}));
  }
})(this, function (exports) {
  var hidden = 1;

  function internal() {
    return hidden;
  }

  exports.api = function (x) {
    return internal();
  };

  class Widget {
    render() {}
  }
});

(() => {
  const inArrow = () => {};
  function inIife() {}
})();

!function () {
  function inBang() {}
}();

if (VERSION) {
  var conditional = 1;
  function inIf() {}
} else {
  function inElse() {}
}
try {
  function inTry() {}
} catch (e) {
  const handler = () => e;
}
for (let i = 0; i < 3; i++) {
  const inLoop = () => i;
}
switch (VERSION) {
  case "1.0":
    function inCase() {}
}

describe("suite", () => {
  it("works", function works() {});
  const helper = () => {};
});

const { left, right: { deep }, ...rest } = api;
const [head, ...tail] = [1, 2];
const memoized = memo(() => 1);
const composed = compose(function inner() {}, 2);
const wrapped = (function () {});
let chained = (other = function () {});

export default class extends Circle {
  render() {}
}
export const shared = 1;
export function visible() {}
